package scenarios_test

import (
	"fmt"

	"github.com/retrygate/retrygate/scenarios"
)

func ExampleGet() {
	s, err := scenarios.Get("429-retry-after-seconds")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	fmt.Println(s.Judges)
	// Output:
	// 429-retry-after-seconds: Told to wait 3 s, then 5 s, then served.
	// [retry-after-delta retry-after-not-late stop-after-success]
}

func ExampleLoad() {
	_, err := scenarios.Load("mine.yaml", []byte(`name: mine
summary: Every third request fails.
judges: [retry-cap]
rules:
  - when: {frist: 3}
    fault: {status: {code: 5030}}
`))
	fmt.Println(err)
	// Output:
	// mine.yaml:5:12: unknown schedule "frist"; did you mean first?
	// mine.yaml:6:28: code: 5030 is out of range; want 200 to 599
}
