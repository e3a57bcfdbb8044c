package fault_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// TestRetryAfterOnTheWire looks at the header as it is sent. Virtual time begins on Saturday, 1 January 2000, at midnight.
func TestRetryAfterOnTheWire(t *testing.T) {
	const sub = 400 * time.Millisecond // into a second, at which the answer is sent
	date := func(d time.Duration, form fault.DateForm, skew time.Duration) *fault.RetryAfter {
		return &fault.RetryAfter{Date: &d, Form: form, Skew: skew}
	}
	once := strings.Replace(getText, "Host: t", "Host: t\r\nConnection: close", 1)
	for name, c := range map[string]struct {
		after      *fault.RetryAfter
		want, date string
	}{
		"seconds":         {fault.Seconds(2 * time.Second), "2", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"round up":        {fault.Seconds(2*time.Second + 1), "3", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"zero":            {fault.Seconds(0), "0", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"huge":            {fault.Seconds(1<<63 - 1), "9223372037", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"negative":        {fault.Raw("-5"), "-5", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"fraction":        {fault.Raw("1.5"), "1.5", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"junk":            {fault.Raw("soon"), "soon", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"beyond any int":  {fault.Raw("99999999999999999999"), "99999999999999999999", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"spaces":          {fault.Raw("  3 "), "  3 ", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"tab":             {fault.Raw("\t3"), "\t3", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"empty":           {fault.Raw(""), "", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"date":            {fault.Date(3 * time.Second), "Sat, 01 Jan 2000 00:00:04 GMT", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"past date":       {fault.Date(-10 * time.Second), "Fri, 31 Dec 1999 23:59:51 GMT", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"date of now":     {fault.Date(0), "Sat, 01 Jan 2000 00:00:01 GMT", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"RFC 850":         {date(3*time.Second, fault.RFC850, 0), "Saturday, 01-Jan-00 00:00:04 GMT", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"asctime":         {date(3*time.Second, fault.Asctime, 0), "Sat Jan  1 00:00:04 2000", "Sat, 01 Jan 2000 00:00:00 GMT"},
		"clock ahead":     {date(3*time.Second, fault.IMF, time.Minute), "Sat, 01 Jan 2000 00:01:04 GMT", "Sat, 01 Jan 2000 00:01:00 GMT"},
		"clock behind":    {date(3*time.Second, "", -time.Hour), "Fri, 31 Dec 1999 23:00:04 GMT", "Fri, 31 Dec 1999 23:00:00 GMT"},
		"asctime, behind": {date(3*time.Second, fault.Asctime, -time.Hour), "Fri Dec 31 23:00:04 1999", "Fri, 31 Dec 1999 23:00:00 GMT"},
	} {
		for _, code := range []int{429, 503, 301, 400, 408, 413, 204} {
			t.Run(name, func(t *testing.T) {
				f := fault.Chain(&fault.Latency{Fixed: sub}, &fault.Status{Code: code, RetryAfter: c.after})
				got, o := pieces(t, f, healthy("never"), once)
				text := strings.Join(got, "|")
				if !strings.HasPrefix(text, "400ms HTTP/1.1 "+http.StatusText(code)) && !strings.Contains(text, " "+http.StatusText(code)+"~") ||
					!strings.Contains(text, "~Retry-After: "+c.want+"~") || !strings.Contains(text, "~Date: "+c.date+"~") || o.cut.Load() != 0 {
					t.Errorf("got %s; want Retry-After %q and Date %q", text, c.want, c.date)
				}
			})
		}
	}
	t.Run("absent", func(t *testing.T) {
		if got, _ := pieces(t, &fault.Status{Code: 429}, healthy(""), once); strings.Contains(strings.Join(got, ""), "Retry-After") {
			t.Error(got)
		}
	})
}

// TestOldDatesAreRead asks Go's own parser: all forms name the same instant.
func TestOldDatesAreRead(t *testing.T) {
	for _, form := range []fault.DateForm{fault.IMF, fault.RFC850, fault.Asctime} {
		w := &answer{header: http.Header{}}
		(&fault.Status{Code: 429, RetryAfter: &fault.RetryAfter{Date: new(time.Hour), Form: form}}).Inject(w, &http.Request{Method: http.MethodGet}, nil)
		at, err := http.ParseTime(w.header.Get("Retry-After"))
		date, err2 := http.ParseTime(w.header.Get("Date"))
		if err != nil || err2 != nil || at.Sub(date) < time.Hour || at.Sub(date) > time.Hour+time.Second {
			t.Errorf("%s: %v after Date, %v, %v", w.header.Get("Retry-After"), at.Sub(date), err, err2)
		}
	}
}

// TestSpacesAroundRetryAfterOnHTTP2 go as HTTP/2 has them.
func TestSpacesAroundRetryAfterOnHTTP2(t *testing.T) {
	s, o := h2(t, &fault.Status{Code: 429, RetryAfter: fault.Raw(" 3 ")}, healthy("never"))
	resp, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Get("Retry-After"); strings.TrimSpace(got) != "3" || resp.StatusCode != 429 || o.cut.Load() != 0 {
		t.Errorf("%d, %q", resp.StatusCode, got)
	}
}

func TestStatusProblems(t *testing.T) {
	for name, c := range map[string]struct {
		status fault.Status
		want   string
	}{
		"all of it": {fault.Status{Code: 403, Problem: &fault.Problem{Type: "https://api.test/out-of-credit", Title: "No credit", Detail: "Balance is <30>.", Instance: "/account/1"}},
			`{"type":"https://api.test/out-of-credit","title":"No credit","status":403,"detail":"Balance is <30>.","instance":"/account/1"}`},
		"defaults":   {fault.Status{Code: 429, Problem: &fault.Problem{Detail: "x"}}, `{"title":"Too Many Requests","status":429,"detail":"x"}`},
		"with zero":  {fault.Status{Problem: &fault.Problem{}}, `{"title":"Service Unavailable","status":503}`},
		"no title":   {fault.Status{Code: 522, Problem: &fault.Problem{}}, `{"title":"Status 522","status":522}`},
		"of success": {fault.Status{Code: 200, Problem: &fault.Problem{Title: "odd"}}, `{"title":"odd","status":200}`},
		"limits":     {fault.Status{Code: 429, Problem: &fault.Problem{Violated: []string{"a"}}}, `{"title":"Too Many Requests","status":429,"violated-policies":["a"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := plain(t, &c.status, healthy("never"))
			answer, _ := raw(t, s, strings.Replace(getText, "Host: t", "Host: t\r\nConnection: close", 1))
			if head, body := split(answer); body != c.want+"\n" || !strings.Contains(head, "Content-Type: application/problem+json") {
				t.Errorf("got %s\n%s\nwant %s", head, body, c.want)
			}
		})
	}
}

// TestVendorDirectives go out as they stand in the plan.
func TestVendorDirectives(t *testing.T) {
	const text = `{status: {code: 429, retry-after: 1s, headers: {retry-after-ms: "750", x-should-retry: "false",
		RateLimit: '"default";r=0;t=30', RateLimit-Policy: '"default";q=100;w=60', X-RateLimit-Reset: "1"}}}`
	f, err := spec(t, text)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := plain(t, f.Fault(), healthy("never"))
	resp, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for name, want := range map[string]string{
		"Retry-After": "1", "retry-after-ms": "750", "x-should-retry": "false",
		"RateLimit": `"default";r=0;t=30`, "RateLimit-Policy": `"default";q=100;w=60`, "X-RateLimit-Reset": "1",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
