package faultserver_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// The plan of a service that fails each call once.
func Example() {
	const file = `
rules:
  - name: hiccup
    match: {methods: [POST], path: "/orders/{id}"}
    per: call
    when: {first: 1}
    fault: {status: {code: 503, retry-after: 2s}}
`
	var plan faultserver.Plan
	if err := strict.Decode("plan.yaml", []byte(file), &plan); err != nil {
		fmt.Println(err)
		return
	}
	server := faultserver.New()
	defer server.Close()
	if err := server.Use(plan); err != nil {
		fmt.Println(err)
		return
	}
	url, err := server.Listen("127.0.0.1:0", "app")
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		answer, err := http.Post(url+"/orders/7", "", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		answer.Body.Close()
	}
	for _, e := range server.Journal().Entries() {
		fmt.Println(e.Seq, e.Client, e.Method, e.Path, e.Status, e.RetryAfter, e.Rule)
	}
	// Output:
	// 1 app POST /orders/7 503 2 hiccup
	// 2 app POST /orders/7 200
}

func ExampleServer_Use_mistakes() {
	err := faultserver.New().Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "idle"}}})
	fmt.Println(err)
	// Output:
	// faultserver: rule idle: the rule says when to act, but not what to do; give it a fault, steps or a sweep
}

// A test in any language drives the server over HTTP; this one is in Go for want of another.
func ExampleControl() {
	server := faultserver.New()
	defer server.Close() // and with it the control API
	control := faultserver.NewControl(server)
	at, err := control.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := `{"rules": [{"name": "outage", "fault": 530.5}]}`
	request, err := http.NewRequest(http.MethodPut, at+"/v1/plan", strings.NewReader(plan))
	if err != nil {
		fmt.Println(err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	_, _ = io.Copy(os.Stdout, answer.Body)
	// Output:
	// {
	//   "type": "about:blank",
	//   "title": "Bad Request",
	//   "status": 400,
	//   "detail": "found the number 530.5; want a whole number such as 3",
	//   "errors": [
	//     {
	//       "detail": "found the number 530.5; want a whole number such as 3",
	//       "pointer": "#/rules/0/fault",
	//       "line": 1,
	//       "column": 40
	//     }
	//   ]
	// }
}
