package clients

func init() {
	p := politePost()
	whole := p.body
	p.body = func(attempt int) string {
		if attempt > 1 {
			return ""
		}
		return whole(attempt)
	}
	register(Client{
		Name:    "body-not-rewound",
		Summary: "the first attempt read the stream to its end; the retries send nothing",
		Breaks:  []string{"body-identical"},
		Call:    p.call,
	})
}
