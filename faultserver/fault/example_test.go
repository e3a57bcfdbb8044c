package fault_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// Faults can stand before any handler, not only in a fault server.
func ExampleRatelimit() {
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "served") })
	limit := &fault.Ratelimit{Limits: []fault.Rate{{N: 2, Per: time.Hour}}}
	for range 3 {
		w := httptest.NewRecorder()
		limit.Inject(w, httptest.NewRequest(http.MethodGet, "/", nil), api)
		fmt.Println(w.Code, w.Header()["Retry-After"])
	}
	// Output:
	// 200 []
	// 200 []
	// 429 [3600]
}
