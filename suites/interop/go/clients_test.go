package clients

import (
	"context"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/retrygate/retrygate/suites/driver"
	"github.com/retrygate/retrygate/suites/interop"
)

var results = flag.String("results", "", "folder that gets each client's result")

// Every client does on the wire what its source says, and keeps and breaks what follows from it.
func TestClients(t *testing.T) {
	l, err := interop.ReadLanguage(".")
	if err != nil {
		t.Fatal(err)
	}
	var expected []string
	for _, c := range l.Clients {
		expected = append(expected, c.ID)
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			f, err := calls.Get(c.ID)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { examine(t, c, f) })
		})
	}
	if registered := calls.Names(); !slices.Equal(registered, slices.Sorted(slices.Values(expected))) {
		t.Errorf("registered are %v, but something is expected of %v", registered, expected)
	}
}

func examine(t *testing.T, c interop.Client, f call) {
	driven := func(method string) driver.Client {
		return driver.HTTPFunc(c.Title(), func(ctx context.Context, h *http.Client, url string) error { return f(ctx, h, method, url) })
	}
	r, err := c.Examine(context.Background(), driven, interop.Exam{Cases: interop.Cases(), Whole: true, Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Differences {
		t.Error(d)
	}
	if *results != "" {
		if err := r.Write(*results); err != nil {
			t.Error(err)
		}
	}
}

// What is pinned is what was read.
func TestPins(t *testing.T) {
	l, err := interop.ReadLanguage(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range l.Unpinned() {
		t.Error(problem)
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *results != "" { // relative to where the test was started, which is here
		*results, _ = filepath.Abs(*results)
	}
	os.Exit(m.Run())
}
