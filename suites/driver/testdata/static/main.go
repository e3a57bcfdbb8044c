// Program static is a client that no clock but the machine's reaches: it waits 1, 2 and 4 s between its attempts.
package main

import (
	"net/http"
	"os"
	"time"
)

func main() {
	for wait := time.Second; ; wait *= 2 {
		answer, err := http.Get(os.Args[1])
		if err == nil {
			answer.Body.Close()
		}
		if wait > 4*time.Second || err == nil && answer.StatusCode == http.StatusOK {
			return
		}
		time.Sleep(wait)
	}
}
