package clients

import (
	"context"
	"errors"
	"net/http"
)

func init() { register("net-http-twice", twice) }

// twice makes two calls over one connection, whatever comes of the first.
func twice(ctx context.Context, h *http.Client, method, url string) error {
	return errors.Join(plain(ctx, h, method, url), plain(ctx, h, method, url))
}
