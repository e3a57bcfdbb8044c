package clients

import "net/http"

func init() {
	p := politePost()
	p.method, p.key = http.MethodPut, nil
	register(Client{
		Name:    "polite-put",
		Summary: "a PUT, which may be repeated without a key (RFC 9110 9.2.2)",
		Call:    p.call,
	})
}
