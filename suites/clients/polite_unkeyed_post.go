package clients

import "net/http"

func init() {
	p := politePost()
	p.key = nil
	p.retry = func(o outcome) bool {
		return o.status == http.StatusTooManyRequests || o.status == http.StatusServiceUnavailable && o.header.Get("Retry-After") != ""
	}
	register(Client{
		Name:    "polite-unkeyed-post",
		Summary: "a POST without a key, tried again only where the server says that it did nothing",
		Call:    p.call,
	})
}
