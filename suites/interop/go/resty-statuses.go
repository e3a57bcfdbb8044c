package clients

import (
	"context"
	"net/http"

	"github.com/go-resty/resty/v2"
)

func init() { register("resty-statuses", restyStatuses) }

// restyStatuses retries statuses by the condition that resty's README shows.
func restyStatuses(ctx context.Context, h *http.Client, method, url string) error {
	c := resty.NewWithClient(h).SetRetryCount(3).AddRetryCondition(func(r *resty.Response, _ error) bool {
		return r.StatusCode() == http.StatusTooManyRequests || r.StatusCode() >= 500
	})
	return restyCall(ctx, c, method, url)
}
