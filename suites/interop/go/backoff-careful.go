package clients

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
)

func init() { register("backoff-careful", backoffCareful) }

// backoffCareful marks permanent errors and bounds tries and time. Retry-After is left to it, and so is forgotten.
func backoffCareful(ctx context.Context, h *http.Client, method, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	_, err := backoff.Retry(ctx, func() (int, error) {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		status, err := once(attempt, h, method, url)
		if err != nil && status != 0 && !slices.Contains([]int{429, 500, 502, 503, 504}, status) {
			err = backoff.Permanent(err)
		}
		return status, err
	}, backoff.WithMaxTries(4))
	return err
}
