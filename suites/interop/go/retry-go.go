package clients

import (
	"context"
	"net/http"

	"github.com/avast/retry-go/v5"
)

func init() { register("retry-go", retryGo) }

// retryGo retries every error, as the README's synopsis does.
func retryGo(ctx context.Context, h *http.Client, method, url string) error {
	return retry.New(retry.Context(ctx)).Do(func() error {
		_, err := once(ctx, h, method, url)
		return err
	})
}
