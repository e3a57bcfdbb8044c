package driver_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

func twice(ctx context.Context, h *http.Client, url string) error {
	for range 2 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/x", nil)
		if err != nil {
			return err
		}
		answer, err := h.Do(r)
		if err != nil {
			return err
		}
		if err := answer.Body.Close(); err != nil {
			return err
		}
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
	}
	return nil
}

// In memory and virtual time TLS is as good: the handshake takes no time at all.
func TestTLSInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca, err := devca.New()
		if err != nil {
			t.Fatal(err)
		}
		out, err := driver.Run(t.Context(), scenarios.Scenario{Name: "healthy", Limit: 3 * time.Minute}, driver.HTTPFunc("twice", twice),
			driver.Options{CA: ca, Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		all := out.History.Entries
		if len(all) != 2 || !all[0].TLS || all[1].At-all[0].At != time.Minute || all[1].Status != 200 || !strings.HasPrefix(out.Ends[0].URL, "https://") {
			t.Errorf("%+v\n%+v", out.Ends[0], all)
		}
		time.Sleep(time.Minute)
	})
}

// Commands find what to trust where they look for it, and the files are gone with them.
func TestTLSForCommands(t *testing.T) {
	ca, err := devca.New()
	if err != nil {
		t.Fatal(err)
	}
	const script = `for v in RETRYGATE_CA NODE_EXTRA_CA_CERTS SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE; do eval f=\$$v; tail -n 3 $f >/dev/null || exit 9; echo $f; done
case {{url}} in https://*) ;; *) exit 8;; esac`
	out, err := driver.Run(t.Context(), scenarios.Scenario{Name: "healthy"}, driver.Command("sh", "-c", script), driver.Options{CA: ca})
	if err != nil {
		t.Fatal(err)
	}
	end := out.Ends[0]
	files := strings.Fields(end.Output.Stdout)
	if end.Exit.Code != 0 || len(files) != 5 {
		t.Fatalf("%+v", end)
	}
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s is left", file)
		}
	}
}
