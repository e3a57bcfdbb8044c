package accesslog_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// text is a log in memory.
func text(name, s string) accesslog.Input {
	return accesslog.Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte(s))), nil }}
}

// read reads logs that must be readable.
func read(t testing.TB, o accesslog.Options, inputs ...accesslog.Input) ([]journal.Entry, accesslog.Summary) {
	t.Helper()
	entries, summary, err := try(o, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	return entries, summary
}

func try(o accesslog.Options, inputs ...accesslog.Input) (entries []journal.Entry, _ accesslog.Summary, _ error) {
	r, err := accesslog.Open(inputs, o)
	if err != nil {
		return nil, accesslog.Summary{}, err
	}
	for e, err := range r.All() {
		if err != nil {
			return entries, r.Summary(), err
		}
		entries = append(entries, e)
	}
	return entries, r.Summary(), nil
}
