package clients

import (
	"context"
	"net/http"
	"time"

	"github.com/sethvargo/go-retry"
)

func init() { register("go-retry", fibonacci) }

// fibonacci retries broken connections and 5xx three times.
func fibonacci(ctx context.Context, h *http.Client, method, url string) error {
	return retry.Do(ctx, retry.WithMaxRetries(3, retry.NewFibonacci(time.Second)), func(ctx context.Context) error {
		status, err := once(ctx, h, method, url)
		if err != nil && (status == 0 || status >= 500) {
			return retry.RetryableError(err)
		}
		return err
	})
}
