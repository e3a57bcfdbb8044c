package fault

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "latency",
		Summary: "delays the answer by a fixed or random time, before or after the upstream is asked",
		Example: "{latency: {lognormal: {median: 200ms, sigma: 0.5}, max: 5s}}",
		New:     func() Fault { return &Latency{} },
	})
}

// Latency delays an exchange, never by less than it says. At most one distribution is set; with none, the delay is Fixed,
// and without that one second.
type Latency struct {
	Fixed     time.Duration `yaml:"fixed" doc:"always so long; default 1s"`
	Uniform   *Uniform      `yaml:"uniform" doc:"every delay from min to max alike"`
	Normal    *Normal       `yaml:"normal" doc:"the bell curve around mean, stddev wide, cut off at 0"`
	Lognormal *Lognormal    `yaml:"lognormal" doc:"near median, with a long tail; sigma 0.5 puts one in a hundred above 3.2 medians"`
	Pareto    *Pareto       `yaml:"pareto" doc:"never below scale, and the smaller shape, the more often far above"`

	Max time.Duration `yaml:"max" doc:"no delay is longer; default no bound"`
	At  Moment        `yaml:"at" doc:"before the upstream is asked (default), or after"`
}

// Moment says whether a delay comes before the upstream is asked or after.
type Moment string

// Before delays the request, After the first byte of the answer: the work is done by then.
const (
	Before Moment = "before"
	After  Moment = "after"
)

var moments = []Moment{Before, After}

// UnmarshalText reads the word that plans use.
func (m *Moment) UnmarshalText(text []byte) error {
	return readWord(m, text, "unknown moment", moments)
}

// JSONSchema lists the words.
func (Moment) JSONSchema() map[string]any { return wordSchema(moments) }

// Inject delays next. The delay ends when the client leaves, and then next is not asked any more.
func (l *Latency) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	d := l.delay(w)
	if l.At != After {
		if !wait(r.Context(), d) {
			abort()
		}
		next.ServeHTTP(w, r)
		return
	}
	late := &late{wrapped: wrapped{ResponseWriter: w}, r: r, delay: d}
	next.ServeHTTP(late, r)
	if late.hold() != nil { // also where the handler wrote nothing: its 200 is sent when it returns
		abort()
	}
}

// delay draws how long this exchange is delayed.
func (l *Latency) delay(w http.ResponseWriter) time.Duration {
	d := l.Fixed
	if by := l.distribution(); by != nil {
		d = by.draw(draw(w))
	} else if d == 0 {
		d = time.Second
	}
	if l.Max > 0 {
		d = min(d, l.Max)
	}
	return d
}

func (l *Latency) distribution() distribution {
	switch {
	case l.Uniform != nil:
		return l.Uniform
	case l.Normal != nil:
		return l.Normal
	case l.Lognormal != nil:
		return l.Lognormal
	case l.Pareto != nil:
		return l.Pareto
	}
	return nil
}

// Validate checks that a mapping has exactly one distribution and that no time is negative.
func (l *Latency) Validate(n strict.Node) {
	if strict.ExactlyOne(n, "fixed", "uniform", "normal", "lognormal", "pareto") == "fixed" {
		strict.Above(n, "fixed", l.Fixed, 0)
	}
	if _, ok := n.Field("max"); ok {
		strict.Above(n, "max", l.Max, 0)
		if l.Max > 0 && l.Fixed > l.Max {
			n.At("max").Fail("max is %v, so the fixed delay of %v never takes as long; leave max out, or make fixed shorter", l.Max, l.Fixed)
		}
	}
}

// late holds the first byte of an answer back. It never aborts by itself: a proxy may flush from another goroutine.
type late struct {
	wrapped
	r     *http.Request
	delay time.Duration
	held  bool
	gone  error // the client left meanwhile: there is nobody to answer
}

// hold waits once.
func (l *late) hold() error {
	if !l.held {
		l.held = true
		if !wait(l.r.Context(), l.delay) {
			l.gone = l.r.Context().Err()
		}
	}
	return l.gone
}

func (l *late) WriteHeader(code int) {
	if code >= 200 && l.hold() != nil {
		return
	}
	l.ResponseWriter.WriteHeader(code)
}

func (l *late) Write(p []byte) (int, error) {
	if err := l.hold(); err != nil {
		return 0, err
	}
	return l.ResponseWriter.Write(p)
}

func (l *late) FlushError() error {
	if err := l.hold(); err != nil {
		return err
	}
	return http.NewResponseController(l.ResponseWriter).Flush()
}

// Hijack waits too: a connection that is to break after a delay must not break before.
func (l *late) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if err := l.hold(); err != nil {
		return nil, nil, err
	}
	return l.wrapped.Hijack()
}
