package fault

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "redirect",
		Summary: "sends the client elsewhere: round in a loop, through a chain of redirects to the backend's answer, or to another host",
		Example: "{redirect: {code: 307, loop: 2}}",
		New:     func() Fault { return &Redirect{} },
	})
}

// Redirect answers with a 3xx and a Location. Loops and chains lead through the client's own URL and count the hops in its
// query (retrygate-hop). What comes to the end of a chain is left alone, with its query as it was. At most one of Loop,
// Chain and To is set; with none, the URL leads to itself.
type Redirect struct {
	Code       int         `yaml:"code" doc:"300 to 399, but not 304; default 302"`
	Loop       int         `yaml:"loop" doc:"how many URLs lead to one another for ever; default 1, the URL to itself"`
	Chain      int         `yaml:"chain" doc:"how many redirects lead to the backend"`
	To         string      `yaml:"to" doc:"URL on another host"`
	RetryAfter *RetryAfter `yaml:"retry-after" doc:"how long the client is asked to wait before it follows"`
}

// hop is the query field that counts redirects.
const hop = "retrygate-hop"

// Select returns the redirect, or nil at the end of a chain.
func (f *Redirect) Select(_ http.ResponseWriter, r *http.Request) Fault {
	code := f.Code
	if code == 0 {
		code = http.StatusFound
	}
	n, query := hops(r.URL.RawQuery)
	location := f.To
	switch {
	case f.To != "":
	case f.Chain > 0 && n >= f.Chain:
		r.URL.RawQuery = query
		return nil
	case f.Chain > 0:
		location = hopTo(r, query, n+1)
	default:
		location = hopTo(r, query, (n+1)%max(1, f.Loop))
	}
	return &Status{Code: code, Headers: map[string]string{"Location": location}, RetryAfter: f.RetryAfter}
}

// Inject redirects the client, or lets next answer.
func (f *Redirect) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if away := f.Select(w, r); away != nil {
		away.Inject(w, r, next)
		return
	}
	next.ServeHTTP(w, r)
}

// hops takes the count out of a query.
func hops(query string) (n int, rest string) {
	var kept []string
	for field := range strings.SplitSeq(query, "&") {
		if count, ok := strings.CutPrefix(field, hop+"="); ok {
			n, _ = strconv.Atoi(count)
			n = max(0, n)
		} else if field != "" {
			kept = append(kept, field)
		}
	}
	return n, strings.Join(kept, "&")
}

// hopTo is the request's own URL with a count.
func hopTo(r *http.Request, query string, n int) string {
	u := r.URL.EscapedPath()
	if !strings.HasPrefix(u, "/") || strings.HasPrefix(u, "//") { // a client would take //name for a host
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		u = scheme + r.Host + "/" + strings.TrimPrefix(u, "/")
	}
	if n > 0 {
		query = strings.TrimPrefix(query+"&"+hop+"="+strconv.Itoa(n), "&")
	}
	if query != "" {
		u += "?" + query
	}
	return u
}

// Validate wants one destination that there can be.
func (f *Redirect) Validate(n strict.Node) {
	if _, ok := n.Field("code"); ok && (f.Code < 300 || f.Code > 399 || f.Code == http.StatusNotModified) {
		n.At("code").Fail("code: %d is no redirect; want 300 to 399, but not 304", f.Code)
	}
	var given []string
	for _, field := range []string{"loop", "chain", "to"} {
		if _, ok := n.Field(field); ok {
			given = append(given, field)
		}
	}
	if len(given) > 1 {
		n.At(given[1]).Fail("%s cannot stand together; keep one", strings.Join(given, " and "))
	}
	if _, ok := n.Field("loop"); ok {
		strict.AtLeast(n, "loop", f.Loop, 1)
	}
	if _, ok := n.Field("chain"); ok {
		strict.AtLeast(n, "chain", f.Chain, 1)
	}
	if _, ok := n.Field("to"); ok {
		if u, err := url.Parse(f.To); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !ValidValue(f.To) {
			n.At("to").Fail("to: %q is no URL of another host; write it like http://127.0.0.1:8081/elsewhere", f.To)
		}
	}
}
