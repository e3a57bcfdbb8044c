package clients

func init() {
	register(Client{
		Name:    "polite-http2",
		Summary: "polite-post over HTTP/2, where Go's own client sends again what was not processed",
		HTTP2:   true,
		Call:    politePost().call,
	})
}
