package driver

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// jobs makes three calls of three tries each, with a header that name and value choose.
func jobs(value func(process, job, try int) string) Client {
	return HTTPFunc("jobs", func(ctx context.Context, h *http.Client, url string) error {
		var process int
		if _, err := fmt.Sscanf(url[len("http://"):], "127.0.0.1:%d", &process); err != nil {
			return err
		}
		for job := range 3 {
			for try := range 3 {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/jobs", nil)
				if err != nil {
					return err
				}
				r.Header.Set("X-Job-Id", value(process, job, try))
				resp, err := h.Do(r)
				if err != nil {
					return err
				}
				resp.Body.Close()
				if resp.StatusCode < 500 {
					break
				}
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
		}
		return nil
	})
}

func TestCalibrateFindsTheHeaderThatNamesCalls(t *testing.T) {
	for _, c := range []struct {
		name  string
		value func(process, job, try int) string
		want  string
	}{
		{"one for each call", func(p, j, _ int) string { return fmt.Sprint(p, j) }, "X-Job-Id"},
		{"one for each attempt", func(p, j, n int) string { return fmt.Sprint(p, j, n) }, ""},
		{"one for each process", func(p, _, _ int) string { return fmt.Sprint(p) }, ""},
		{"one for all", func(_, _, _ int) string { return "7" }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := Calibrate(t.Context(), jobs(c.value), Options{Memory: true, Limit: time.Hour})
				if err != nil || got != c.want {
					t.Errorf("got %q, want %q: %v", got, c.want, err)
				}
			})
		})
	}
}
