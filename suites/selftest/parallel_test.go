package selftest

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/suites/clients"
)

// TestCallsSideBySideAreNotOne has polite clients make several calls at once where nothing says which call a connection was
// for that broke before its request was read.
func TestCallsSideBySideAreNotOne(t *testing.T) {
	polite, err := clients.All.Get("polite-get")
	if err != nil {
		t.Fatal(err)
	}
	persistent, err := clients.All.Get("retries-too-often")
	if err != nil {
		t.Fatal(err)
	}
	several := func(c clients.Client) clients.Client {
		return clients.Client{Name: c.Name, Call: func(ctx context.Context, h *http.Client, url string) error {
			var all sync.WaitGroup
			for _, path := range []string{"/orders", "/status", "/users"} {
				all.Go(func() { _ = c.Call(ctx, h, url+path) })
			}
			all.Wait()
			return nil
		}}
	}
	names := []string{"refused-connection", "reconnect", "silent-connection", "reset-storm"}
	r := examine(t, several(polite), names...)
	for id, why := range byVerdict(r, assert.Fail) {
		t.Errorf("false alarm: %s\n  %s", id, strings.Join(why, "\n  "))
	}
	r = examine(t, several(persistent), names...)
	if byVerdict(r, assert.Fail)["retry-cap"] == nil {
		t.Error("more attempts than all calls together may make are not found")
	}
}
