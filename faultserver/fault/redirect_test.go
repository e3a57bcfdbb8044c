package fault_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// echo answers with what was asked for.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" "+string(body))
}

func TestRedirectChainsEndAtTheBackend(t *testing.T) {
	for name, c := range map[string]struct {
		redirect fault.Redirect
		url      string
		want     string
		requests int32
	}{
		"one":              {fault.Redirect{Chain: 1}, "/a", `200 "GET /a "`, 2},
		"three":            {fault.Redirect{Chain: 3}, "/a?b=c&d", `200 "GET /a?b=c&d "`, 4},
		"with the body":    {fault.Redirect{Code: 307, Chain: 2}, "/a%2Fb", `200 "POST /a%2Fb hello"`, 3},
		"see other":        {fault.Redirect{Code: 303, Chain: 2}, "/a", `200 "GET /a "`, 3},
		"loop":             {fault.Redirect{}, "/a", "stopped after 10 redirects", 10},
		"loop of two":      {fault.Redirect{Loop: 2}, "/a?x=1", "stopped after 10 redirects", 10},
		"longer than most": {fault.Redirect{Chain: 25}, "/", "stopped after 10 redirects", 10},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, &c.redirect, echo)
			got := describe(s.Client().Post(s.URL+c.url, "", strings.NewReader("hello")))
			if !strings.Contains(got, c.want) || o.exchanges.Load() != c.requests {
				t.Errorf("%s after %d requests; want %s after %d", got, o.exchanges.Load(), c.want, c.requests)
			}
		})
	}
}

func TestRedirectOnTheWire(t *testing.T) {
	for name, c := range map[string]struct {
		redirect fault.Redirect
		target   string
		heads    string // lines of the head
	}{
		"default":             {fault.Redirect{}, "/a?b", "HTTP/1.1 302 Found|Location: /a?b|Content-Length: 0"},
		"first of two":        {fault.Redirect{Loop: 2}, "/a?b", "Location: /a?b&retrygate-hop=1"},
		"second of two":       {fault.Redirect{Loop: 2}, "/a?b&retrygate-hop=1", "Location: /a?b"},
		"third of three":      {fault.Redirect{Loop: 3}, "/?retrygate-hop=2", "Location: /"},
		"chain":               {fault.Redirect{Chain: 9}, "/?retrygate-hop=7", "Location: /?retrygate-hop=8"},
		"nonsense in the hop": {fault.Redirect{Chain: 9}, "/?retrygate-hop=-x", "Location: /?retrygate-hop=1"},
		"another host":        {fault.Redirect{Code: 301, To: "https://other.test/x?y"}, "/a", "HTTP/1.1 301 Moved Permanently|Location: https://other.test/x?y"},
		"any 3xx":             {fault.Redirect{Code: 399}, "/a", "HTTP/1.1 399 status code 399|Location: /a"},
		"wait":                {fault.Redirect{Code: 301, RetryAfter: fault.Seconds(90 * time.Second)}, "/a", "Retry-After: 90"},
		"no other host":       {fault.Redirect{}, "//evil.test/a", "Location: http://t//evil.test/a"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, &c.redirect, echo)
			answer, err := raw(t, s, "GET "+c.target+" HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
			for line := range strings.SplitSeq(c.heads, "|") {
				if !strings.Contains(answer, line+"\r\n") || err != nil || o.cut.Load() != 0 || o.asked.Load() != 0 {
					t.Errorf("got %s, %v; want %s", answer, err, line)
				}
			}
		})
	}
}
