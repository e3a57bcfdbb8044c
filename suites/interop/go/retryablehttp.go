package clients

import (
	"context"
	"net/http"

	"github.com/hashicorp/go-retryablehttp"
)

func init() { register("retryablehttp", retryable) }

func retryable(ctx context.Context, h *http.Client, method, url string) error {
	c := retryablehttp.NewClient()
	c.Logger, c.HTTPClient = nil, h
	req, err := retryablehttp.NewRequestWithContext(ctx, method, url+path, body(method))
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	return finish(resp)
}
