package driver_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// A fault of HTTP/2 meets a client that speaks it; for one that does not, a note says that the fault never acted.
func TestFaultsOfHTTP2NeedIt(t *testing.T) {
	s, err := scenarios.Get("goaway")
	if err != nil {
		t.Fatal(err)
	}
	s.Clients = 1
	get := func(ctx context.Context, h *http.Client, url string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := h.Do(r)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	for version, client := range map[string]driver.Client{"HTTP/1.1": driver.HTTPFunc("one", get), "HTTP/2.0": driver.HTTP2Func("two", get)} {
		for _, memory := range []bool{true, false} {
			test := func(t *testing.T) {
				o, err := driver.Run(context.Background(), s, client, driver.Options{Memory: memory})
				if err != nil {
					t.Fatal(err)
				}
				never := func(note string) bool {
					return note == "rule away acts on HTTP/2 only, and no request came over HTTP/2: its fault never acted"
				}
				one := version == "HTTP/1.1"
				if told := slices.ContainsFunc(o.Notes, never); told != one || o.Fired["away"] > 0 == one || o.Ends[0].Exit.Err != nil {
					t.Errorf("%s: fired %v, %v, %s", version, o.Fired, o.Ends[0].Exit.Err, strings.Join(o.Notes, "; "))
				}
				if e := o.History.Entries[0]; e.Proto != version || e.Unprocessed == one {
					t.Errorf("%+v", e)
				}
			}
			if memory {
				synctest.Test(t, test)
			} else {
				test(t)
			}
		}
	}
}
