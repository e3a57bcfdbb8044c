package selftest

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/memnet"
	"github.com/retrygate/retrygate/scenarios"
)

// waits draws the wait before retry k.
type waits func(r *rand.Rand, k int) time.Duration

// habit is how a client retries, as its documentation says. Each setting is named after what the documents call it.
type habit struct {
	method   string // default GET
	key      string // header that carries a key made once a call; "": none
	path     string
	attempts int           // 0: no bound
	timeout  time.Duration // for one attempt
	within   time.Duration // for the call; 0: no bound
	statuses []int         // that are retried
	network  bool          // whether broken connections are
	cut      bool          // whether broken answers are
	late     bool          // whether attempts that timed out are
	wait     waits
	// told says what the client makes of an answer's Retry-After: how long to wait, 0 for its own backoff, and whether it
	// tries again at all.
	told func(r *http.Response) (wait time.Duration, again bool)
}

// lifetime is when a process ends for other reasons: virtual clocks do not bear waits of a thousand years.
const lifetime = 30 * 24 * time.Hour

func ignores(*http.Response) (time.Duration, bool) { return 0, true }

// obeys waits as told up to longest, and gives up beyond.
func obeys(longest time.Duration) func(*http.Response) (time.Duration, bool) {
	return func(r *http.Response) (time.Duration, bool) {
		value := r.Header.Get("Retry-After")
		seconds, err := strconv.Atoi(value)
		wait := time.Duration(min(seconds, int(10*lifetime/time.Second))) * time.Second
		if date, dated := http.ParseTime(value); dated == nil {
			wait, err = time.Until(date), nil
		}
		if err != nil || wait <= 0 {
			return 0, true
		}
		return wait, wait <= longest
	}
}

// exponential draws from lo to hi of base * 2^(k-1), which top bounds.
func exponential(base, top time.Duration, lo, hi float64) waits {
	return func(r *rand.Rand, k int) time.Duration {
		return time.Duration(float64(min(base<<min(k-1, 20), top)) * (lo + (hi-lo)*r.Float64()))
	}
}

// call makes one call; chance is the client's own, so that a test does the same every time.
func (h habit) call(ctx context.Context, chance *rand.Rand, client *http.Client, url string) {
	within := h.within
	if within == 0 {
		within = lifetime
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	key := strconv.FormatUint(chance.Uint64(), 36)
	for k := 1; ; k++ {
		r, err := h.send(ctx, client, url, key)
		wait, again := h.next(r, err)
		if !again || k == h.attempts || ctx.Err() != nil {
			return
		}
		if wait == 0 {
			wait = h.wait(chance, k)
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return
		}
		time.Sleep(wait)
	}
}

// next says whether there is another attempt, and after which wait; 0 is the client's own backoff.
func (h habit) next(r *http.Response, err error) (time.Duration, bool) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return 0, h.late
	case err != nil && r != nil:
		return 0, h.cut
	case err != nil:
		return 0, h.network
	case !slices.Contains(h.statuses, r.StatusCode):
		return 0, false
	default:
		return h.told(r)
	}
}

func (h habit) send(ctx context.Context, client *http.Client, url, key string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	method := h.method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(`{"event":"order.paid"}`)
	}
	req, err := http.NewRequestWithContext(ctx, method, url+h.path, body)
	if err != nil {
		return nil, err
	}
	if h.key != "" {
		req.Header.Set(h.key, key)
	}
	r, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return r, err
}

// play puts a client through a scenario in virtual time, as many at once as it wants, and judges them by the contract. The
// clock is virtual, so there is no noise that a canary would have to measure.
func play(t *testing.T, c *assert.Contract, sc scenarios.Scenario, h habit) (results []assert.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := faultserver.New(faultserver.WithSeed(1))
		if err := server.Use(sc.Plan()); err != nil {
			t.Fatal(err)
		}
		began := server.Journal().Began()
		var network memnet.Network
		done := make(chan struct{})
		for i := range max(1, sc.Clients) {
			name := "client-" + strconv.Itoa(i)
			l, err := network.Listen(name + ":80")
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = server.Serve(l, name) }() // ends with Close
			go func() {
				defer func() { done <- struct{}{} }()
				transport := &http.Transport{DialContext: network.DialContext}
				defer transport.CloseIdleConnections()
				h.call(t.Context(), rand.New(rand.NewPCG(uint64(i), 1)), &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
					return http.ErrUseLastResponse
				}}, "http://"+name)
			}()
		}
		for range max(1, sc.Clients) {
			<-done
		}
		history := server.Journal().History()
		calm := assert.Noise{Slices: []assert.Slice{{Samples: 1}}}
		calls := assert.Calls(history.Entries, assert.Key{OneCall: true, Table: c.Responses, Run: &assert.Run{
			Began: began, Until: history.Until, Ended: true, Noise: calm,
		}})
		results = assert.Judge(c, sc.Judges, calls)
		_ = server.Close()
		time.Sleep(time.Second) // net/http lets some connections linger for half a second
	})
	return results
}
