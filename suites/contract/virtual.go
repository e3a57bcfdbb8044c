package contract

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/devca"
)

// VirtualTime judges a Go client made with driver.HTTPFunc in virtual time: hours of backoff take milliseconds, and every
// wait is exact. Server and client speak over a network in memory, inside a bubble of testing/synctest, which takes the
// suite's *testing.T:
//
//	contract.VirtualTime(func(run func()) { synctest.Test(suite, func(*testing.T) { run() }) })
//
// The client must tell and take time by package time, send its requests through the http.Client that it is given, and end
// what it started when it returns or its context ends. What does not gets an error that says so.
func VirtualTime(bubble func(run func())) Option { return func(r *Request) { r.Bubble = bubble } }

// stuckAfter is how much of the machine's time a bubble may take that has hundreds of clients; one takes milliseconds.
var stuckAfter = time.Minute

// lookInBubble is preflight in a bubble of its own.
func (s *session) lookInBubble() look {
	var l look
	if err := s.inBubble(func(inner *session) error { l = inner.look.get(); return l.err }); err != nil {
		return look{err: err}
	}
	return l
}

// runInBubble runs a scenario in a bubble of its own, with a preflight, which costs next to nothing there.
func (s *session) runInBubble(index int) *outcome {
	var o *outcome
	if err := s.inBubble(func(inner *session) error { o = inner.runs[index].out.get(); return o.err }); err != nil {
		return &outcome{err: err}
	}
	return o
}

// inner is the session again, made in a bubble. Its authority is one of the bubble's time: certificates of any other are not
// valid yet there.
func (s *session) inner() (inner *session, err error) {
	request := s.Request
	request.Bubble, request.Memory = nil, true
	if request.CA != nil {
		if request.CA, err = devca.New(); err != nil {
			return nil, err
		}
	}
	return newSession(request)
}

// inBubble lets do work with a session that was made in a bubble, one after the other. The error is what do returned, and
// why the bubble did not come to its end.
func (s *session) inBubble(do func(inner *session) error) error {
	s.bubbles.Lock()
	defer s.bubbles.Unlock()
	if s.burst != nil {
		return s.burst
	}
	done, burst := make(chan error, 1), make(chan error, 1)
	go func() {
		err := errors.New("the bubble ended without having run: VirtualTime wants a function that calls the one it is given")
		defer func() {
			if p := recover(); p != nil {
				err = errors.Join(err, leak(s.Client.Name(), p))
				burst <- err // what a client leaves behind here it leaves everywhere
			}
			done <- err
		}()
		s.Bubble(func() {
			inner, made := s.inner()
			if err = made; err == nil {
				defer inner.stop()
				err = do(inner)
			}
		})
	}()
	timer := time.NewTimer(stuckAfter)
	defer timer.Stop()
	select {
	case err := <-done:
		select {
		case s.burst = <-burst:
		default:
		}
		return err
	case <-timer.C:
		s.burst = fmt.Errorf("%s does something in virtual time that holds it up, for %v by now: it waits for what is outside of the bubble "+
			"(a connection that its http.Client did not make, a file, a mutex, a goroutine started before), or never stops to compute; "+
			"run it without VirtualTime, or leave that out", s.Client.Name(), stuckAfter)
	}
	return s.burst
}

// leak explains a panic of testing/synctest.
func leak(client string, reason any) error {
	text := fmt.Sprint(reason)
	if !strings.Contains(text, "deadlock") {
		return fmt.Errorf("virtual time: %s", text)
	}
	return fmt.Errorf("%s left goroutines behind that wait for ever (%s): end what it starts when its call returns or its context ends, "+
		"and stop tickers, workers and connections with it; run it without VirtualTime to leave them alone", client, text)
}
