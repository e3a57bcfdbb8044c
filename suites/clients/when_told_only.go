package clients

import "net/http"

func init() {
	p := polite()
	p.retry = func(o outcome) bool {
		_, told := keepRetryAfter(o.header)
		return told && (o.status == http.StatusTooManyRequests || o.status >= 500) || o.err != nil && transient(o)
	}
	register(Client{
		Name:    "when-told-only",
		Summary: "tries again only when Retry-After says when, or the network failed, as the Kubernetes client does",
		Breaks:  []string{"retries-transient"},
		Call:    p.call,
	})
}
