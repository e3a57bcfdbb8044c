// Package clients holds retry libraries for Go, each used as its documentation shows. A client is one file that registers
// one call, and one file that says what to expect of it.
package clients

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// path is what every client asks for.
const path = "/driver/status"

// call makes one call of a client with a method against the server at url, and sends its requests through h.
type call func(ctx context.Context, h *http.Client, method, url string) error

// calls holds every client by the name of its file.
var calls = registry.New[call]("client")

func register(name string, c call) { calls.Add(name, c) }

// body is what a request with the method carries.
func body(method string) io.Reader {
	if method == http.MethodPost {
		return strings.NewReader(`{"status":"on-shift"}`)
	}
	return nil
}

// once sends one request, and turns a bad status into an error, as callers of libraries that retry any function do.
func once(ctx context.Context, h *http.Client, method, url string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url+path, body(method))
	if err != nil {
		return 0, err
	}
	resp, err := h.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, finish(resp)
}

// finish reads an answer to its end, and turns a bad status into an error.
func finish(resp *http.Response) error {
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode >= 400 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}
