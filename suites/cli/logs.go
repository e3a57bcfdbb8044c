package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// logFlags say how access logs are to be read.
type logFlags struct {
	format string
	client []string
	fields []string
}

// add puts the flags into a command's, and returns their names.
func (f *logFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.format, "log-format", "", "the log's format, by its `NAME` in retrygate list logs (default: found out, line by line)")
	flags.StringSliceVar(&f.client, "log-client", nil, "what tells the clients of a log apart: remote, user, header:NAME (default remote,user, and the programs at one address)")
	flags.StringArrayVar(&f.fields, "log-field", nil, "where lines of JSON keep a field, as in `FIELD=KEY`: time=@t, duration=latency:ms; may be repeated")
}

// logFlagNames lists what add adds.
var logFlagNames = []string{"log-format", "log-client", "log-field"}

func (f *logFlags) options() (o accesslog.Options, err error) {
	o = accesslog.Options{Format: f.format, Client: f.client, Fields: map[string]string{}}
	for _, field := range f.fields {
		name, key, ok := strings.Cut(field, "=")
		if !ok {
			err = errors.Join(err, fmt.Errorf("--log-field %q: want FIELD=KEY, as in time=@t", field))
			continue
		}
		o.Fields[name] = key
	}
	return o, err
}

// openLogs opens access logs to be read as one; - is stdin.
func (w *world) openLogs(files []string, f logFlags) (*accesslog.Reader, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	inputs := make([]accesslog.Input, len(files))
	for i, file := range files {
		name := file
		if file == "-" {
			name = "stdin"
		}
		inputs[i] = accesslog.Input{Name: name, Open: func() (io.ReadCloser, error) { return w.open(file) }}
	}
	return until(w.ctx, func() (*accesslog.Reader, error) { return accesslog.Open(inputs, o) })
}

// eachLine visits every request of the logs, until the user interrupts.
func (w *world) eachLine(r *accesslog.Reader, visit func(*journal.Entry)) (accesslog.Summary, error) {
	return until(w.ctx, func() (accesslog.Summary, error) {
		err := r.Each(func(e *journal.Entry) bool {
			visit(e)
			return e.Seq&1023 != 0 || w.ctx.Err() == nil
		})
		return r.Summary(), err
	})
}

// logNotes say what a reader of the verdict has to know of the log.
func logNotes(s accesslog.Summary) (notes []string) {
	if bad := s.Lines(); bad > 0 {
		notes = append(notes, fmt.Sprintf("%s could not be read: %s", plural(bad, "line"), strings.Join(s.Malformed, "; ")))
	}
	if s.Late > 0 {
		notes = append(notes, plural(s.Late, "line")+" came so late that they are out of order")
	}
	if notes = append(notes, s.Notes...); s.Whole {
		return notes
	}
	if s.Resolution > time.Millisecond {
		notes = append(notes, fmt.Sprintf("times in the log are rounded to %s; what is said of waits allows for that", s.Resolution))
	}
	if !s.Durations {
		notes = append(notes, "the log does not say how long requests took, so waits are counted from line to line")
	}
	if !s.Bodies {
		notes = append(notes, "the log tells nothing of bodies: requests that are alike in client, method, path and query count as repeats when they follow a failure")
	}
	return notes
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
