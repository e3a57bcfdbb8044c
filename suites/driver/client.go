// Package driver runs clients under test: a Go function or a command in any language, against one scenario at a time,
// each client on an address of its own, watched while it runs and stopped when it would go on for ever.
package driver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/retrygate/retrygate/faultserver/clock"
)

// Client is what is put to the test. Run makes it do its work once against t, and returns when it has ended; it must end
// soon after ctx does. An error is what the client itself reports, such as that it gave up; it is no verdict.
type Client interface {
	Name() string
	Run(ctx context.Context, t Target) error
}

// Target is where one client is sent.
type Target struct {
	URL      string // scheme://host:port, nothing after it
	Scenario string
	Number   int // of the client among those that run side by side, from 1

	clock    clock.Clock // of server and client
	faketime string      // library that puts a command on it

	http  *http.Client // reaches the server where an ordinary one would not; nil: an ordinary one does
	trust *trust       // what a command is to trust; nil: nothing in particular
	left  func(n int)  // told when a command has ended, but n processes that it started run; nil: nobody watches them

	// cancel is closed when the caller loses interest, nil if it never does; cancelled is called once the client was told.
	cancel    <-chan struct{}
	cancelled func()
}

// Client is the name under which the target's requests are journalled.
func (t Target) Client() string { return fmt.Sprintf("client-%d", t.Number) }

// runner is a client that can tell how it ended.
type runner interface {
	run(ctx context.Context, t Target) (Exit, Output)
}

// checker is a client that can tell before the first run that it cannot be started.
type checker interface{ check() error }

// Check says before the first run why client cannot be started: a *StartError. It is nil when nothing is known against it.
func Check(client Client) error {
	if c, ok := client.(checker); ok {
		return c.check()
	}
	return nil
}

// runClient runs any client once.
func runClient(ctx context.Context, c Client, t Target) (Exit, Output) {
	if r, ok := c.(runner); ok {
		return r.run(ctx, t)
	}
	return guard(ctx, c.Name(), t, func(ctx context.Context) error { return c.Run(ctx, t) })
}
