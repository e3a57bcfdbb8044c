package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

func TestDripSendsPieces(t *testing.T) {
	for name, c := range map[string]struct {
		drip    fault.Drip
		backend http.HandlerFunc
		want    string // each piece with its time
	}{
		"default":   {fault.Drip{}, healthy("abc"), "0s a, 100ms b, 200ms c, "},
		"pieces":    {fault.Drip{Bytes: 2, Every: time.Second}, healthy("abcde"), "0s ab, 1s cd, 2s e, "},
		"one piece": {fault.Drip{Bytes: 10, Every: time.Second}, healthy("abc"), "0s abc, "},
		"no body":   {fault.Drip{}, healthy(""), ""},
		"small writes": {fault.Drip{Bytes: 2, Every: time.Second}, func(w http.ResponseWriter, _ *http.Request) {
			for _, s := range []string{"a", "b", "c"} {
				_, _ = io.WriteString(w, s)
				time.Sleep(time.Millisecond) // so that the client can tell them apart
			}
		}, "0s a, 1ms b, 1.002s c, "},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, &c.drip, c.backend, func(t *testing.T, client *http.Client, o *outcome) {
				start := time.Now()
				resp, err := client.Get("http://t/")
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				var got strings.Builder
				for buffer := make([]byte, 100); err == nil; {
					var n int
					n, err = resp.Body.Read(buffer)
					if n > 0 {
						fmt.Fprintf(&got, "%v %s, ", time.Since(start), buffer[:n])
					}
				}
				if got.String() != c.want || !errors.Is(err, io.EOF) || o.cut.Load() != 0 {
					t.Errorf("got %sand then %v; want %s", got.String(), err, c.want)
				}
			})
		})
	}
}

func TestDripEndsWhenTheClientLeaves(t *testing.T) {
	virtual(t, &fault.Drip{Every: time.Minute}, healthy("abc"), func(t *testing.T, client *http.Client, o *outcome) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://t/", nil)
		if got := describe(client.Do(r)); !strings.Contains(got, "200, then error: context deadline exceeded") {
			t.Error(got)
		}
		synctest.Wait()
		if o.cut.Load() != 1 {
			t.Error("an answer that was not sent whole does not count as cut")
		}
	})
}
