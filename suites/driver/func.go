package driver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"
)

// grace is how long a client may take to end after it was asked to.
const grace = time.Second

// Func is a client that is a Go function: f makes one call of the client against the server at url. A scenario that wants
// work calls f again and again, several times at once if it has to; what f remembers from call to call is then the state
// of one client, and all clients share it: see Worker. A panic in f becomes its error. Its ctx ends when the harness
// stops the client, or where a scenario has the caller cancel; it tells no deadline beforehand. Once stopped, f has one second
// to return; Go cannot end it by force.
func Func(name string, f func(ctx context.Context, url string) error) Client {
	return Worker(name, func() func(context.Context, string) error { return f })
}

// HTTPFunc is a client that is a Go function like that of Func, but sends its requests through h, a client of its own. It
// is the kind that also runs over a network in memory (Options.Memory).
func HTTPFunc(name string, f func(ctx context.Context, h *http.Client, url string) error) Client {
	return HTTPWorker(name, func() func(context.Context, *http.Client, string) error { return f })
}

// HTTP2Func is HTTPFunc with a client that speaks HTTP/2 alone, with TLS or without: what a scenario does to streams meets no other.
func HTTP2Func(name string, f func(ctx context.Context, h *http.Client, url string) error) Client {
	return HTTP2Worker(name, func() func(context.Context, *http.Client, string) error { return f })
}

// Worker is a client that remembers something between its calls, such as a breaker's state: start makes a client with a
// memory of its own, and what it returns makes one call, as the f of Func does. It has to send CallID(ctx) as
// X-Retrygate-Call if the calls of a scenario's work are to be told apart.
func Worker(name string, start func() func(ctx context.Context, url string) error) Client {
	return function{name: name, start: func() callFunc {
		f := start()
		return func(ctx context.Context, _ *http.Client, url string) error { return f(ctx, url) }
	}}
}

// HTTPWorker is Worker for clients that send their requests through h, as the f of HTTPFunc does. Where a scenario wants
// work, h states in X-Retrygate-Call which call a request belongs to, as far as the request has the context of the call.
func HTTPWorker(name string, start func() func(ctx context.Context, h *http.Client, url string) error) Client {
	return function{name: name, start: func() callFunc { return start() }}
}

// HTTP2Worker is HTTPWorker with clients that speak HTTP/2 alone, with TLS or without.
func HTTP2Worker(name string, start func() func(ctx context.Context, h *http.Client, url string) error) Client {
	return function{name, func() callFunc { return start() }, true}
}

// callFunc makes one call.
type callFunc func(ctx context.Context, h *http.Client, url string) error

type function struct {
	name  string
	start func() callFunc
	http2 bool
}

func (f function) Name() string { return f.name }

func (f function) Run(ctx context.Context, t Target) error {
	exit, _ := f.run(ctx, t)
	return exit.Err
}

func (f function) run(ctx context.Context, t Target) (Exit, Output) {
	h := f.client(t)
	defer h.CloseIdleConnections()
	return guard(ctx, f.name, t, func(ctx context.Context) error { return f.start()(ctx, h, t.URL) })
}

// client reaches the target.
func (f function) client(t Target) *http.Client {
	h := t.http
	if h == nil {
		h = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	if f.http2 {
		t := h.Transport.(*http.Transport)
		t.Protocols = new(http.Protocols)
		t.Protocols.SetUnencryptedHTTP2(true)
		t.Protocols.SetHTTP2(true)
	}
	return h
}

// guard runs f, survives its panics, and stops waiting for it one second after ctx has ended.
func guard(ctx context.Context, name string, t Target, f func(context.Context) error) (Exit, Output) {
	type result struct {
		err   error
		stack string
	}
	done := make(chan result, 1)
	patient, stop := undated(ctx)
	told := make(chan struct{})
	defer func() {
		stop(nil)
		<-told
	}()
	go func() {
		defer close(told)
		select {
		case <-t.cancel:
			stop(context.Canceled)
			t.cancelled()
		case <-patient.Done():
		}
	}()
	go func() {
		r := result{err: fmt.Errorf("%s ended its goroutine in place of returning; does it call FailNow or Goexit?", name)}
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("%s panicked: %v", name, p), stack: string(debug.Stack())}
			}
			done <- r
		}()
		r.err = f(patient)
	}()
	ended := func(r result) (Exit, Output) { return Exit{Code: -1, Err: r.err}, Output{Stderr: r.stack} }
	select {
	case r := <-done:
		return ended(r)
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case r := <-done:
		return ended(r)
	case <-timer.C:
		return Exit{Code: -1, Alive: true, Err: errors.New("it still runs; does it heed its context?")}, Output{}
	}
}

// undated is a context that ends with ctx, but does not tell when that will be: the harness's limit is no deadline of the
// caller, and a client that knew it would not show how long it waits.
func undated(ctx context.Context) (patient context.Context, stop context.CancelCauseFunc) {
	patient, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return patient, func(cause error) {
		unlink()
		cancel(cause)
	}
}
