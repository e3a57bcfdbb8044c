package strict_test

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func Example() {
	var c struct {
		Attempts int
		Within   time.Duration
	}
	err := strict.Decode("contract.yaml", []byte("atempts: 4\nwithin: 30\n"), &c)
	fmt.Println(err)
	// Output:
	// contract.yaml:1:1: unknown field "atempts"; did you mean attempts?
	// contract.yaml:2:9: 30 has no unit; write 30s or 30ms
}
