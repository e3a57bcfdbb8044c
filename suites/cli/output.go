package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// output is stdout. It remembers the first error, so that no command has to look at each line that it prints. That the
// reader went away, as head does, is no error: the rest is dropped.
type output struct {
	to   io.Writer
	gone bool
	err  error
}

func (o *output) Write(p []byte) (int, error) {
	if o.gone {
		return len(p), nil
	}
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		o.gone = true
		return len(p), nil
	case err != nil:
		o.err = fmt.Errorf("stdout: %w", bare(err))
	}
	return n, o.err
}

// bare takes the file's name off an error that is told with a better one.
func bare(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// outlivePipes lets a command finish its work when the reader of its output goes away; by default that kills it. The
// signal is caught and not ignored, since the clients that are run would inherit that.
func outlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
