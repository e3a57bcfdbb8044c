package driver

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/scenarios"
)

// sender sends the same bytes for ever, each time over a connection of its own.
func sender(raw string) Client {
	return Func("sender", func(ctx context.Context, url string) error {
		for ctx.Err() == nil {
			conn, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second)
			if err != nil {
				return err
			}
			_, _ = io.WriteString(conn, raw)
			if raw != "" {
				_, _ = io.ReadAll(conn)
			}
			conn.Close()
		}
		return ctx.Err()
	})
}

// Storms that no handler sees are stopped like others.
func TestStormsOfUnservedRequestsAreStopped(t *testing.T) {
	for name, c := range map[string]struct{ raw, why string }{
		"refused":   {"GET /a%zz HTTP/1.1\r\nHost: x\r\n\r\n", " requests in "},
		"connected": {"", "without a request"},
	} {
		t.Run(name, func(t *testing.T) {
			out := mustRun(t, scenarios.Scenario{Name: "s0"}, sender(c.raw), Options{Enough: -1, Limit: 20 * time.Second})
			end := out.Ends[0]
			if !strings.Contains(end.Stopped, c.why) || !strings.Contains(end.Stopped, "gone on") || end.Silent != (c.raw == "") {
				t.Errorf("%+v", end)
			}
		})
	}
}
