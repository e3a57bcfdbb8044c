package accesslog_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// A log is read entry by entry, in order of arrival; what could not be read is counted.
func Example() {
	const log = `203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] "POST /driver/status HTTP/1.1" 400 57 "-" "driver/4" rt=0.012 msec=1767323045.678
what is this?
203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] "POST /driver/status HTTP/1.1" 400 57 "-" "driver/4" rt=0.010 msec=1767323045.790
`
	in := accesslog.Input{Name: "access.log", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(log)), nil }}
	reader, err := accesslog.Open([]accesslog.Input{in}, accesslog.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for entry, err := range reader.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(entry.At, entry.Client, entry.Request(), entry.Status)
	}
	s := reader.Summary()
	fmt.Println(s.Files[0].Formats, s.Resolution, s.Malformed)
	// Output:
	// 0s 203.0.113.7 POST /driver/status 400
	// 114ms 203.0.113.7 POST /driver/status 400
	// [combined] 1ms [access.log:2: no known format: "what is this?"]
}
