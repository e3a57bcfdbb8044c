package fault_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/memnet"
)

func TestStatusOnTheWire(t *testing.T) {
	head := strings.Replace(getText, "GET", "HEAD", 1)
	for name, c := range map[string]struct {
		status  fault.Status
		request string
		heads   []string // parts of the head
		body    string
	}{
		"plain": {fault.Status{Code: 503}, getText,
			[]string{"HTTP/1.1 503 Service Unavailable", "Content-Type: application/problem+json", "Content-Length: 45"},
			`{"title":"Service Unavailable","status":503}` + "\n"},
		"zero value":        {fault.Status{}, head, []string{"HTTP/1.1 503 Service Unavailable"}, ""},
		"unregistered code": {fault.Status{Code: 522}, getText, []string{"HTTP/1.1 522 "}, `{"title":"Status 522","status":522}` + "\n"},
		"own body": {fault.Status{Code: 400, Body: `{"e":1}`, Headers: map[string]string{"content-type": "application/json", "X-A": "b"}}, getText,
			[]string{"HTTP/1.1 400 Bad Request", "Content-Type: application/json", "X-A: b", "Content-Length: 7"}, `{"e":1}`},
		"success has no body of its own": {fault.Status{Code: 200}, getText, []string{"200 OK", "Content-Length: 0"}, ""},
		"HEAD":                           {fault.Status{Code: 503}, head, []string{"503 ", "Content-Length: 45"}, ""},
		"204":                            {fault.Status{Code: 204}, getText, []string{"204 No Content"}, ""},
		"304":                            {fault.Status{Code: 304}, getText, []string{"304 Not Modified"}, ""},
		"seconds":                        {fault.Status{Code: 429, RetryAfter: fault.Seconds(2 * time.Second)}, getText, []string{"Retry-After: 2\r\n"}, `{"title":"Too Many Requests","status":429}` + "\n"},
		"seconds round up":               {fault.Status{Code: 429, RetryAfter: fault.Seconds(1001 * time.Millisecond)}, head, []string{"Retry-After: 2\r\n"}, ""},
		"zero seconds":                   {fault.Status{Code: 429, RetryAfter: fault.Seconds(0)}, head, []string{"Retry-After: 0\r\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, &c.status, healthy("never"))
			answer, err := raw(t, s, strings.Replace(c.request, "Host: t", "Host: t\r\nConnection: close", 1))
			got, body := split(answer)
			for _, want := range c.heads {
				if !strings.Contains(got+"\r\n", want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if err != nil || body != c.body {
				t.Errorf("body %q and then %v; want %q", body, err, c.body)
			}
			if o.cut.Load() != 0 || o.asked.Load() != 0 {
				t.Errorf("cut %d times, backend asked %d times", o.cut.Load(), o.asked.Load())
			}
		})
	}
}

// TestStatusDefaultBodyIsJSON holds for every code that gets one.
func TestStatusDefaultBodyIsJSON(t *testing.T) {
	for code := 400; code < 600; code++ {
		w := &answer{header: http.Header{}}
		(&fault.Status{Code: code}).Inject(w, &http.Request{Method: http.MethodGet}, nil)
		var p struct{ Status int }
		if err := json.Unmarshal(w.body, &p); err != nil || p.Status != code || w.header.Get("Content-Length") != strconv.Itoa(len(w.body)) {
			t.Errorf("%d: %s: %v", code, w.body, err)
		}
	}
}

// answer keeps what a fault writes.
type answer struct {
	header http.Header
	code   int
	body   []byte
}

func (a *answer) Header() http.Header  { return a.header }
func (a *answer) WriteHeader(code int) { a.code = code }
func (a *answer) Write(p []byte) (int, error) {
	a.body = append(a.body, p...)
	return len(p), nil
}

// virtual runs f behind a server in virtual time. do asks it and gives the client's view.
func virtual(t *testing.T, f fault.Fault, backend http.HandlerFunc, look func(t *testing.T, client *http.Client, o *outcome)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		l, err := network.Listen("t:80")
		if err != nil {
			t.Fatal(err)
		}
		o := new(outcome)
		s := &http.Server{Handler: observed(f, backend, o), ErrorLog: quiet}
		go func() { _ = s.Serve(l) }()
		transport := &http.Transport{DialContext: network.DialContext}
		look(t, &http.Client{Transport: transport}, o)
		transport.CloseIdleConnections()
		_ = s.Close()
		synctest.Wait()
	})
}

func TestRetryAfterDateKeepsItsWord(t *testing.T) {
	for name, offset := range map[string]time.Duration{"on a second": 0, "inside a second": 400 * time.Millisecond, "just before": time.Second - 1} {
		t.Run(name, func(t *testing.T) {
			f := &fault.Status{Code: 429, RetryAfter: fault.Date(3 * time.Second)}
			virtual(t, f, healthy(""), func(t *testing.T, client *http.Client, _ *outcome) {
				time.Sleep(offset)
				resp, err := client.Get("http://t/")
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				at, err := http.ParseTime(resp.Header.Get("Retry-After"))
				date, err2 := http.ParseTime(resp.Header.Get("Date"))
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				ahead, byDate := time.Until(at), at.Sub(date)
				if ahead < 3*time.Second || ahead >= 4*time.Second || byDate < 3*time.Second || byDate > 4*time.Second {
					t.Errorf("3 s were promised; the date is %v ahead, %v after Date", ahead, byDate)
				}
			})
		})
	}
}
