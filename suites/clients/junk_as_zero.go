package clients

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

func init() {
	call := func(ctx context.Context, h *http.Client, url string) error {
		p, junk := polite(), false
		own := p.wait
		p.retry = func(o outcome) bool {
			told := o.header.Get("Retry-After")
			seconds, err := strconv.Atoi(told)
			_, noDate := http.ParseTime(told)
			junk = told != "" && noDate != nil && (err != nil || seconds < 0)
			return transient(o)
		}
		p.wait = func(retry int) time.Duration {
			if junk {
				return 0
			}
			return own(retry)
		}
		return p.call(ctx, h, url)
	}
	register(Client{
		Name:    "junk-as-zero",
		Summary: "what it cannot read in Retry-After counts as no wait at all",
		Breaks:  []string{"retry-after-sanity", "min-spacing"},
		Call:    call,
	})
}
