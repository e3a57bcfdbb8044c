package memnet_test

import (
	"fmt"
	"io"
	"net/http"

	"github.com/retrygate/retrygate/faultserver/memnet"
)

// A server and a client that never leave the process. Inside a testing/synctest bubble they would live in virtual time.
func Example() {
	var network memnet.Network
	l, err := network.Listen("api.test:80")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })}
	go server.Serve(l)
	defer server.Close()

	client := &http.Client{Transport: &http.Transport{DialContext: network.DialContext}}
	answer, err := client.Get("http://api.test/")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	fmt.Printf("%s\n", body)
	// Output: hello
}
