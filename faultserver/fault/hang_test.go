package fault_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

func TestHangLastsUntilTheClientLeaves(t *testing.T) {
	virtual(t, &fault.Hang{}, healthy("hi"), func(t *testing.T, client *http.Client, o *outcome) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://t/", strings.NewReader("hello"))
		if _, err := client.Do(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		synctest.Wait()
		if o.cut.Load() != 1 || o.asked.Load() != 0 {
			t.Errorf("cut %d times, backend asked %d times", o.cut.Load(), o.asked.Load())
		}
	})
}

func TestHangForAWhileCloses(t *testing.T) {
	virtual(t, &fault.Hang{For: 30 * time.Second}, healthy("hi"), func(t *testing.T, client *http.Client, o *outcome) {
		start := time.Now()
		got := describe(client.Post("http://t/", "", strings.NewReader("hello")))
		if took := time.Since(start); !strings.Contains(got, "EOF") || took != 30*time.Second || o.cut.Load() != 1 {
			t.Errorf("%s after %v", got, took)
		}
	})
}

// announced tells when a request has reached the fault.
type announced struct {
	fault.Fault
	arrived chan struct{}
}

func (a announced) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	close(a.arrived)
	a.Fault.Inject(w, r, next)
}

func TestHangEndsWithTheServer(t *testing.T) {
	arrived, done := make(chan struct{}), make(chan string)
	s, o := plain(t, announced{&fault.Hang{}, arrived}, healthy("hi"))
	go func() { done <- describe(s.Client().Post(s.URL, "", strings.NewReader("hello"))) }()
	<-arrived
	s.CloseClientConnections()
	if got := <-done; !strings.Contains(got, "error") {
		t.Error(got)
	}
	s.Close() // waits for the handler
	if o.cut.Load() != 1 {
		t.Error("the exchange does not count as cut")
	}
}

func TestHangOnHTTP2(t *testing.T) {
	s, o := h2(t, &fault.Hang{For: time.Millisecond}, healthy("hi"))
	if got := describe(s.Client().Post(s.URL, "", strings.NewReader("x"))); !strings.Contains(got, "INTERNAL_ERROR") || o.cut.Load() != 1 {
		t.Error(got)
	}
}
