package faultserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
)

// asksAgain is a transport that asks for the rest of a request's body once more when its answer has begun, as that of
// net/http does at times: it has sent all that was declared, and looks whether there is more.
type asksAgain struct {
	request io.Reader
	answer  io.Reader
	began   bool
}

func (a *asksAgain) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, r.ContentLength)); err != nil {
		return nil, err
	}
	a.request, a.answer, a.began = r.Body, strings.NewReader("an answer"), false
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(a), ContentLength: -1, Request: r}, nil
}

func (a *asksAgain) Read(p []byte) (int, error) {
	if a.began {
		if n, err := a.request.Read(p); n != 0 || err != io.EOF {
			return 0, fmt.Errorf("the request's body: %d bytes, %v", n, err)
		}
	}
	a.began = true
	return a.answer.Read(p)
}

func TestLargeUploadsAreAnsweredWhole(t *testing.T) {
	at, err := faultserver.ParseUpstream("http://up.test")
	if err != nil {
		t.Fatal(err)
	}
	virtual(t, func(t *testing.T, w *world) {
		for _, size := range []int{1 << 20, 1<<20 + 1, 5_000_000} {
			for range 20 {
				if status, got := w.ask(t, "POST /", strings.Repeat("x", size)); status != 200 || got != "an answer" {
					t.Fatalf("%d bytes: %d %s", size, status, got)
				}
				if e := w.last(t); e.Cut || !e.BodyWhole || e.BodyLen != int64(size) {
					t.Fatalf("%d bytes: %+v", size, e)
				}
			}
		}
	}, faultserver.WithUpstream(at), faultserver.WithTransport(&asksAgain{}))
}

// The same over TCP, before a server that answers as soon as it has the body.
func TestLargeUploadsOverTCP(t *testing.T) {
	up := faultserver.New()
	defer up.Close()
	upstream, err := up.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	at, err := faultserver.ParseUpstream(upstream)
	if err != nil {
		t.Fatal(err)
	}
	s := faultserver.New(faultserver.WithUpstream(at))
	defer s.Close()
	url, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for _, size := range []int{1_048_577, 5_000_000} {
		body := bytes.Repeat([]byte("x"), size)
		for range 20 {
			answer, err := client.Post(url, "", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(answer.Body)
			if answer.Body.Close(); err != nil || answer.StatusCode != 200 {
				t.Fatalf("%d bytes: %s %v", size, answer.Status, err)
			}
		}
	}
}
