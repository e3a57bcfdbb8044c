package faultserver_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// limits are the settings that a client can meet, each by itself and together.
var limits = map[string]struct {
	settings *fault.Ratelimit
	every    time.Duration // how often a client sends that stays under the limit, with one body
	alone    bool          // clients share it, so that one may take what another was promised
}{
	"defaults": {settings: &fault.Ratelimit{}, every: 600 * ms},
	"window":   {settings: &fault.Ratelimit{Limits: []fault.Rate{{N: 15, Per: time.Minute}}}, every: 4 * time.Second},
	"burst":    {settings: &fault.Ratelimit{Limits: []fault.Rate{{N: 20, Per: 10 * time.Second}}}, every: 500 * ms},
	"odd":      {settings: &fault.Ratelimit{Limits: []fault.Rate{{N: 3, Per: 1700 * ms}, {N: 7, Per: 7777 * ms}}}, every: 1111 * ms},
	"payload":  {settings: &fault.Ratelimit{Limits: []fault.Rate{}, Identical: &fault.Rate{N: 3, Per: time.Minute}}, every: 20 * time.Second},
	"ceiling":  {settings: &fault.Ratelimit{Limits: []fault.Rate{}, Ceiling: &fault.Rate{N: 10, Per: 10 * time.Second}}, alone: true},
	"all": {settings: &fault.Ratelimit{Limits: []fault.Rate{{N: 100, Per: time.Minute}, {N: 20, Per: 10 * time.Second}},
		Identical: &fault.Rate{N: 3, Per: time.Minute}, Ceiling: &fault.Rate{N: 6000, Per: time.Minute}, Advertise: true}, every: 20 * time.Second},
}

// Under every limit, who sleeps exactly as long as Retry-After says is let in, a thousand times of a thousand, while one
// client hammers at 40 requests a second all along and another, under its limit, never hears of it. What clients are told
// is a whole number of seconds, and never 0 or less (flask-limiter 62 counted down below it).
func TestLimitsKeepTheirWord(t *testing.T) {
	for name, c := range limits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := faultserver.New(faultserver.WithClientHeader("X-Client"))
				defer s.Close()
				if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "limit", Fault: limit(c.settings)}}}); err != nil {
					t.Fatal(err)
				}
				ask := func(client string) (told int) { return askLimited(t, s, client) }
				done := make(chan struct{})
				var others sync.WaitGroup
				defer others.Wait()
				defer close(done)
				meanwhile := func(every time.Duration, do func()) {
					others.Go(func() {
						for {
							select {
							case <-done:
								return
							case <-time.After(every):
								do()
							}
						}
					})
				}
				if !c.alone {
					meanwhile(25*ms, func() { ask("hammers") })
					meanwhile(c.every, func() {
						if told := ask("under its limit"); told != 0 {
							t.Errorf("a client that sends once in %v is told to wait %d s", c.every, told)
						}
					})
				}
				clients := 250
				if c.alone {
					clients = 1
				}
				var obedient sync.WaitGroup
				for i := range clients {
					obedient.Go(func() {
						obey(t, 1000/clients, func() int { return ask(fmt.Sprint("obeys ", i)) })
					})
				}
				obedient.Wait()
			})
		})
	}
}

// obey sends as fast as it can, but waits when it is told to, until that was so a number of times.
func obey(t *testing.T, refusals int, ask func() (told int)) {
	for refused, asked := 0, 0; refused < refusals; asked++ {
		told := ask()
		if told == 0 && asked < 500*refusals {
			continue
		}
		refused++
		time.Sleep(time.Duration(told) * time.Second)
		if again := ask(); again != 0 || told == 0 {
			t.Errorf("refusal %d: after a wait of %d s, as told, it is told to wait %d s more", refused, told, again)
			return
		}
	}
}

// askLimited sends one request and returns what Retry-After says, 0 if the request was let in.
func askLimited(t *testing.T, s *faultserver.Server, client string) (told int) {
	r := (&http.Request{ // httptest.NewRequest would parse one, a hundred thousand times
		Method: "POST", URL: &url.URL{Path: "/"}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: "api.test",
		Header: http.Header{"X-Client": {client}}, Body: io.NopCloser(strings.NewReader("the same")), ContentLength: 8,
		RemoteAddr: "192.0.2.1:1234",
	}).WithContext(t.Context())
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	switch w.Code {
	case 200:
		return 0
	case 429:
	default:
		t.Errorf("status %d", w.Code)
	}
	told, err := strconv.Atoi(w.Header().Get("Retry-After"))
	if err != nil || told < 1 {
		t.Errorf("%s is told to wait %q", client, w.Header().Get("Retry-After"))
	}
	return told
}
