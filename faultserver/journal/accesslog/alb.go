package accesslog

import (
	"bytes"
	"time"
)

func init() {
	register(Format{
		Name: "alb", Rank: 20,
		Summary: "AWS Application Load Balancer",
		Source:  "AWS, Elastic Load Balancing user guide, \"Access logs for your Application Load Balancer\"; the example is the guide's",
		Example: `http 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.46.0" - - arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337262-36d228ad5d99923122bbe354" "-" "-" 0 2018-07-02T22:22:48.364000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"
`,
		lines: func(Options) parser { return alb{} },
	})
}

// alb reads type, time, balancer, client:port, target:port, three times, two statuses, received and sent bytes, request and
// agent. The time is when the answer was given; the three times add up to how long that took, -1 where it never came so far.
type alb struct{}

func (alb) parse(line []byte, r *record) error {
	var words [12][]byte
	rest := line
	for i := range words {
		words[i], rest = field(rest)
	}
	switch string(words[0]) {
	case "http", "https", "h2", "grpcs", "ws", "wss":
	default:
		return errFormat
	}
	var ok bool
	if r.stamp, r.exact, ok = isoTime(words[1]); !ok || len(rest) < 2 || rest[1] != '"' {
		return errFormat
	}
	r.remote = present(words[3])
	for _, word := range words[5:8] {
		if part, ok := seconds(word, time.Second); ok {
			r.took += part
		}
	}
	if r.status, ok = status(words[8]); !ok {
		return errFormat
	}
	if r.status == 460 || r.status == 0 { // 460: the client closed the connection before the answer
		r.left, r.cut, r.status = r.status == 460, r.status == 0, 0
	}
	r.upstream, _ = status(words[9])
	r.length = number(words[10]) // with the head: alike for like requests
	request, rest, ok := quoted(rest[1:])
	if !ok {
		return errFormat
	}
	r.request(bytes.TrimRight(request, " -"))
	if agent, _, ok := quoted(bytes.TrimLeft(rest, " ")); ok {
		r.header("user-agent", agent)
	}
	return nil
}
