package clients

import (
	"context"
	"net/http"

	"github.com/cenkalti/backoff/v5"
)

func init() { register("backoff", backoffBare) }

// backoffBare retries every error, as the README begins.
func backoffBare(ctx context.Context, h *http.Client, method, url string) error {
	_, err := backoff.Retry(ctx, func() (int, error) { return once(ctx, h, method, url) })
	return err
}
