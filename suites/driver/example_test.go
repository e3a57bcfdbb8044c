package driver_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// A client that tries twice meets a server that is never well.
func ExampleRun() {
	client := driver.Func("twice", func(ctx context.Context, url string) error {
		for range 2 {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/driver/status", nil)
			if err != nil {
				return err
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return err
			}
			if err := response.Body.Close(); err != nil {
				return err
			}
		}
		return nil
	})
	outage := scenarios.Scenario{Name: "outage"}
	outcome, err := driver.Run(context.Background(), outage, client, driver.Options{Stub: faultserver.Stub{Status: 503}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range outcome.History.Entries {
		fmt.Println(e.Client, e.Method, e.Path, e.Status)
	}
	fmt.Println(outcome.Ends[0].Client, outcome.Ends[0])
	// Output:
	// client-1 GET /driver/status 503
	// client-1 GET /driver/status 503
	// client-1 ended without an error
}

// What a command does before faults are thrown at it.
func ExampleLook() {
	client := driver.Command("curl", "-sS", "--retry", "3", "{{url}}/driver/status")
	look, err := driver.Look(context.Background(), client, driver.Options{})
	if err != nil {
		fmt.Println(err) // a sentence to show as it is
		return
	}
	fmt.Println(look.OneCall, look.Requests)
}

// Clients in other languages get the address in place of {{url}}, and in their environment.
func ExampleCommand() {
	client := driver.Command("python3", "-c", "import os, urllib.request as u; u.urlopen(os.environ['RETRYGATE_URL'])")
	fmt.Println(client.Name())
	fmt.Println(driver.Argv(driver.Command("curl", "-sS", "{{url}}/driver/status")))
	// Output:
	// python3
	// [curl -sS {{url}}/driver/status]
}
