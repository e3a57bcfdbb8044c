package clients

import (
	"context"
	"net/http"

	"github.com/go-resty/resty/v2"
)

func init() {
	register("resty", func(ctx context.Context, h *http.Client, method, url string) error {
		return restyCall(ctx, resty.NewWithClient(h).SetRetryCount(3), method, url)
	})
}

func restyCall(ctx context.Context, c *resty.Client, method, url string) error {
	_, err := c.SetLogger(silent{}).R().SetContext(ctx).SetBody(body(method)).Execute(method, url+path)
	return err
}

// silent drops what resty logs of every attempt.
type silent struct{}

func (silent) Errorf(string, ...any) {}
func (silent) Warnf(string, ...any)  {}
func (silent) Debugf(string, ...any) {}
