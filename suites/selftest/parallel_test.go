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

// several has each run of a client make a call for each of the paths, side by side or one after the other.
func several(c clients.Client, sideBySide bool, paths ...string) clients.Client {
	return clients.Client{Name: c.Name, Call: func(ctx context.Context, h *http.Client, url string) error {
		var all sync.WaitGroup
		for _, path := range paths {
			call := func() { _ = c.Call(ctx, h, url+path) }
			if sideBySide {
				all.Go(call)
			} else {
				call()
			}
		}
		all.Wait()
		return nil
	}}
}

// TestCallsSideBySideAreNotOne has a client make several calls at once where nothing says which call a connection was for
// that broke before its request was read.
func TestCallsSideBySideAreNotOne(t *testing.T) {
	persistent, err := clients.All.Get("retries-too-often")
	if err != nil {
		t.Fatal(err)
	}
	r := examine(t, several(persistent, true, "/orders", "/status", "/users"), "refused-connection", "silent-connection", "reset-storm")
	if byVerdict(r, assert.Fail)["retry-cap"] == nil {
		t.Error("more attempts than all calls together may make are not found")
	}
}

// TestManyCallsInARunAreNoBreach has polite clients make several calls in each run, in every scenario.
func TestManyCallsInARunAreNoBreach(t *testing.T) {
	for _, name := range []string{"polite-get", "polite-post"} {
		polite, err := clients.All.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name  string
			paths []string
		}{
			{"routes", []string{"/orders", "/status", "/users"}},
			{"one route", []string{"/orders", "/orders", "/orders"}},
			{"items", []string{"/orders/1", "/orders/2", "/orders/3", "/orders/4"}},
		} {
			for how, sideBySide := range map[string]bool{"side by side": true, "in turn": false} {
				t.Run(name+", "+c.name+" "+how, func(t *testing.T) {
					t.Parallel()
					for id, why := range byVerdict(examine(t, several(polite, sideBySide, c.paths...)), assert.Fail) {
						t.Errorf("false alarm: %s\n  %s", id, strings.Join(why, "\n  "))
					}
				})
			}
		}
	}
}

// TestConnectionsWithoutARequestAreNoDisguise has a client retry where no request is ever read: there is no name that
// could hide a repeat.
func TestConnectionsWithoutARequestAreNoDisguise(t *testing.T) {
	polite, err := clients.All.Get("polite-get")
	if err != nil {
		t.Fatal(err)
	}
	r := examine(t, polite, "refused-connection", "silent-connection")
	for _, id := range []string{"retry-cap", "amplification-factor"} {
		if why := byVerdict(r, assert.Inconclusive)[id]; why != nil || byVerdict(r, assert.Pass)[id] == nil {
			t.Errorf("%s is not kept: %v", id, why)
		}
	}
}
