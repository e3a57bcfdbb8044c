package clients

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// policy is a whole retry policy, so that a reference client is one value with one setting changed.
type policy struct {
	method   string
	body     func(attempt int) string // nil: none
	key      func() string            // makes an idempotency key, nil: none
	token    func() string            // gives the bearer token, nil: none
	count    func(attempt int) string // gives X-Stainless-Retry-Count, nil: none
	newKeys  bool                     // a key of its own for each attempt, instead of one for the call
	early    func(attempt int) bool   // says Early-Data: 1, as a gateway does of what came in a TLS handshake; nil: never
	attempts int                      // the first one included
	within   time.Duration            // for the whole call
	timeout  time.Duration            // for one attempt
	idle     time.Duration            // without a byte of the answer, after which an attempt is given up; 0: none

	wait       func(retry int) time.Duration // before retry 1, 2, ...
	retry      func(o outcome) bool
	hasty      func(o outcome) bool                                                               // failures after which it comes back at once; nil: none
	around     func(ctx context.Context, attempt int, send func(context.Context) outcome) outcome // makes an attempt of sends; nil: of one
	free       func(o outcome) bool                                                               // failures that do not count as attempts; nil: all count
	retryAfter func(h http.Header) (wait time.Duration, told bool)
	alone      bool // Retry-After holds for the call that was told, not for the whole client
}

// outcome is what one attempt came to: a status, or an error.
type outcome struct {
	status int
	header http.Header
	err    error
	final  bool // the error is one that stays: redirects that lead nowhere, a certificate that is not to be trusted
}

// polite is the policy that keeps the strict contract: 4 attempts, exponential backoff with full jitter, Retry-After
// kept, 25 s for the whole call and 4 s for an attempt.
func polite() policy {
	return policy{
		method: http.MethodGet, attempts: 4, within: 25 * time.Second, timeout: 4 * time.Second,
		wait: fullJitter(500*time.Millisecond, 8*time.Second), retry: transient, retryAfter: keepRetryAfter,
	}
}

// politePost is polite for a write: all attempts of a call share one idempotency key.
func politePost() policy {
	p := polite()
	p.method = http.MethodPost
	p.body = func(int) string { return `{"status":"on-shift","at":"depot 7"}` }
	p.key = func() string { return strconv.FormatUint(rand.Uint64(), 36) }
	return p
}

// call makes one call.
func (p policy) call(ctx context.Context, h *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, p.within)
	defer cancel()
	key := p.makeKey()
	counted := 0
	for attempt := 1; ; attempt++ {
		if p.newKeys {
			key = p.makeKey()
		}
		send := func(ctx context.Context) outcome { return p.send(ctx, h, url, key, attempt) }
		if p.around == nil {
			p.around = func(ctx context.Context, _ int, send func(context.Context) outcome) outcome { return send(ctx) }
		}
		o := p.around(ctx, attempt, send)
		if p.free == nil || !p.free(o) {
			counted++
		}
		if counted >= p.attempts || !p.retry(o) {
			return o.result()
		}
		if !sleep(ctx, p.pause(attempt, o)) {
			return ctx.Err()
		}
	}
}

// pause is the wait before a retry: the policy's own, or longer if the server asks for it.
func (p policy) pause(retry int, o outcome) time.Duration {
	wait := time.Duration(0)
	if p.hasty == nil || !p.hasty(o) {
		wait = p.wait(retry)
	}
	if told, ok := p.retryAfter(o.header); ok {
		wait = max(wait, told)
	}
	return wait
}

func (p policy) makeKey() string {
	if p.key == nil {
		return ""
	}
	return p.key()
}

// send makes one attempt and reads the whole answer: a broken body is a failure like any other.
func (p policy) send(ctx context.Context, h *http.Client, url, key string, attempt int) (o outcome) {
	if !p.alone && !gateOf(ctx).pass(ctx) {
		return outcome{err: context.DeadlineExceeded}
	}
	defer func() {
		if told, ok := p.retryAfter(o.header); ok {
			gateOf(ctx).shut(told)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var body string
	if p.body != nil {
		body = p.body(attempt)
	}
	req, err := http.NewRequestWithContext(ctx, p.method, url, strings.NewReader(body))
	if err != nil {
		return outcome{err: err}
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if p.count != nil {
		req.Header.Set("X-Stainless-Retry-Count", p.count(attempt))
	}
	if p.early != nil && p.early(attempt) {
		req.Header.Set("Early-Data", "1")
	}
	if p.token != nil {
		req.Header.Set("Authorization", "Bearer "+p.token())
	}
	read := func(r io.Reader) io.Reader { return r }
	if p.idle > 0 {
		watchdog := time.AfterFunc(p.idle, cancel)
		defer watchdog.Stop()
		read = func(r io.Reader) io.Reader { return watched{r, func() { watchdog.Reset(p.idle) }} }
	}
	resp, err := h.Do(req)
	if err != nil {
		return outcome{err: err, final: distrusted(err) || strings.Contains(err.Error(), "redirects")} // "stopped after 10 redirects"
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, read(resp.Body)); err != nil {
		return outcome{header: resp.Header, err: err}
	}
	return outcome{status: resp.StatusCode, header: resp.Header}
}

// distrusted reports whether the server's certificate was turned down.
func distrusted(err error) bool {
	var refused *tls.CertificateVerificationError
	return errors.As(err, &refused)
}

// watched tells of each piece that is read.
type watched struct {
	io.Reader
	seen func()
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.seen()
	return n, err
}

// result is what the caller gets to see.
func (o outcome) result() error {
	switch {
	case o.err != nil:
		return o.err
	case o.status >= 300:
		return fmt.Errorf("the server answered %d", o.status)
	default:
		return nil
	}
}

// sleep waits for d and reports false when the context ends before that, or would.
func sleep(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false // there is no use in waiting for an attempt that may not start
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// transient is the lawful class of failures to retry: 429, the transient 5xx, and anything lost on the network.
func transient(o outcome) bool {
	switch o.status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return o.err != nil && !o.final && !errors.Is(o.err, context.Canceled)
}

// keepRetryAfter reads both forms of Retry-After (RFC 9110 10.2.3); junk and past dates count as not told.
func keepRetryAfter(h http.Header) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil && s >= 0 {
		return time.Duration(min(s, math.MaxInt32)) * time.Second, true // 68 years; more could overflow
	}
	at, err := http.ParseTime(v)
	wait := time.Until(at)
	return wait, err == nil && wait > 0
}

// noRetryAfter is for clients that do not look at the header.
func noRetryAfter(http.Header) (time.Duration, bool) { return 0, false }

// exponential is the unjittered curve base, 2 base, 4 base ..., never above top.
func exponential(base, top time.Duration) func(int) time.Duration {
	return func(retry int) time.Duration {
		d := base
		for range retry - 1 {
			if d *= 2; d >= top {
				return top
			}
		}
		return d
	}
}

// fullJitter draws each wait from U(0, d) over the exponential curve.
func fullJitter(base, top time.Duration) func(int) time.Duration {
	return between(exponential(base, top), 0, 1)
}

// linear is the unjittered curve base, 2 base, 3 base ...
func linear(base time.Duration) func(int) time.Duration {
	return func(retry int) time.Duration { return base * time.Duration(retry) }
}

// geometric is the unjittered curve base, base x factor, base x factor^2 ..., never above a minute.
func geometric(base time.Duration, factor float64) func(int) time.Duration {
	return func(retry int) time.Duration {
		return time.Duration(min(float64(base)*math.Pow(factor, float64(retry-1)), float64(time.Minute)))
	}
}

// fibonacci is the unjittered curve base, 2 base, 3 base, 5 base ...
func fibonacci(base time.Duration) func(int) time.Duration {
	return func(retry int) time.Duration {
		d, next := base, 2*base
		for range retry - 1 {
			d, next = next, d+next
		}
		return d
	}
}

// between draws each wait from U(lo d, hi d) over a curve.
func between(curve func(int) time.Duration, lo, hi float64) func(int) time.Duration {
	return func(retry int) time.Duration {
		return time.Duration(float64(curve(retry)) * (lo + (hi-lo)*rand.Float64()))
	}
}

// always is the curve that does not grow.
func always(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}
