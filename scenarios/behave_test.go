package scenarios_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/memnet"
	"github.com/retrygate/retrygate/scenarios"
)

// shared is an authority for plans that are only looked at.
var shared = sync.OnceValues(devca.New)

// use gives a server the scenario's plan.
func use(s scenarios.Scenario) error {
	ca, err := shared()
	if err != nil {
		return err
	}
	server := faultserver.New(faultserver.WithTLS(ca))
	defer server.Close()
	return server.Use(s.Plan())
}

// stubborn sends a request n times with the same wait after each answer or error, in virtual time, from each of the
// clients, and returns what the server saw.
func stubborn(t *testing.T, s scenarios.Scenario, http2 bool, clients, n int, wait time.Duration) (entries []journal.Entry) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ca, err := devca.New() // its certificates begin in the virtual now
		if err != nil {
			t.Fatal(err)
		}
		scheme, options := "http://", []faultserver.Option(nil)
		if s.Plan().NeedsTLS() {
			scheme, options = "https://", []faultserver.Option{faultserver.WithTLS(ca)}
		}
		server := faultserver.New(options...)
		defer time.Sleep(time.Second) // net/http lets some connections linger for half a second
		defer server.Close()
		if err := server.Use(s.Plan()); err != nil {
			t.Fatal(err)
		}
		var network memnet.Network
		transport := &http.Transport{DialContext: network.DialContext, Protocols: new(http.Protocols), TLSClientConfig: &tls.Config{RootCAs: ca.Only()}}
		transport.Protocols.SetHTTP1(!http2)
		transport.Protocols.SetUnencryptedHTTP2(http2)
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
		for i := range clients {
			addr := fmt.Sprintf("c%d.localhost:80", i)
			l, err := network.Listen(addr)
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = server.Serve(l, addr) }()
			for range n {
				if resp, err := client.Post(scheme+addr+"/driver/status", "", strings.NewReader("{}")); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				time.Sleep(wait)
			}
		}
		synctest.Wait() // the server notices that the last one left
		entries = server.Journal().Entries()
	})
	return entries
}

// seen writes down what one exchange was: its status, or its fault where it was cut, with Retry-After and how long it took.
func seen(e journal.Entry) string {
	what := strconv.Itoa(e.Status)
	if e.Cut || e.Gone > 0 {
		what = e.Fault
	}
	if e.RetryAfter != "" {
		what += "/" + strings.Fields(e.RetryAfter)[0]
	}
	if took := e.End() - e.At; took >= time.Second {
		what += "/" + took.Round(time.Second).String()
	}
	return what
}

// behaviour is what each scenario gives to a client that never gives up.
var behaviour = map[string]struct {
	clients, requests int
	wait              time.Duration
	want              string // for all clients, one after the other
}{ // those of HTTP/2 are in behaviourHTTP2
	"sustained-400":           {1, 4, 0, "400 400 400 400"},
	"4xx-sweep":               {21, 2, 0, "400 400 401 401 402 402 403 403 404 404 405 405 406 406 410 410 411 411 412 412 414 414 415 415 416 416 417 417 422 422 424 424 426 426 428 428 431 431 451 451 400 400"},
	"special-4xx":             {5, 2, 0, "408 408 409 409 421 421 423 423 425 425"},
	"5xx-sweep":               {18, 1, 0, "500 501 502 503 504 505 506 507 508 510 511 520 521 522 523 524 525 526"},
	"503-large-body":          {1, 2, 0, "503 503"},
	"server-directive":        {2, 2, 0, "503 200 409 200"},
	"503-burst":               {2, 6, 8 * time.Second, "503 503 503 503 503 200 503 503 503 503 503 200"},
	"fail-then-succeed":       {6, 3, 0, "429 200 200 502 200 200 503 200 200 504 200 200 reset 200 200 429 200 200"},
	"429-retry-after-seconds": {2, 4, 0, "429/3 429/5 200 200 429/3 429/5 200 200"},
	"503-retry-after":         {2, 3, 0, "503/3 200 200 503/3 200 200"},
	"429-retry-after-date":    {1, 3, 0, "429/Sat, 200 200"}, // virtual time begins on a Saturday
	"429-retry-after-long":    {3, 1, 0, "429/86400 429/2147484 429/1000000000000"},
	"429-retry-after-odd":     {4, 2, 0, "429/-5 429/-5 429/1.5 429/1.5 429/soon 429/soon 429/Fri, 429/Fri,"},
	"lost-answer":             {4, 2, 0, "lose-answer 200 lose-answer 200 502 200 lose-answer 200"},
	"interrupted-upload":      {5, 2, 0, "reset 200 reset 200 503 200 reset 200 reset 200"},
	"slow-responses":          {1, 2, 0, "200/3s 200/3s"},
	"cancelled":               {2, 1, 0, "hang/10s 503/2"},
	"expired-token":           {3, 2, 0, "401 401 401 401 401 401"},
	"garbage":                 {2, 2, 0, "garbage garbage garbage garbage"},
	"dripping":                {2, 1, 0, "drip+oversize/10s slow-head/10s"},
	"bad-certificate":         {5, 1, 0, "certificate certificate certificate certificate certificate"},
	"gone":                    {1, 4, time.Second, "200 200 410 410"},
	"hang":                    {1, 2, 0, "hang/10s hang/10s"},
	"redirect-loop":           {2, 1, 0, "302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302"},
	"reset-storm":             {1, 3, 0, "reset reset reset"},
	"flapping":                {2, 24, time.Second, strings.Repeat(strings.TrimSpace(strings.Repeat("503 503 200 200 503 503 200 ", 3))+" 200 200 200 ", 2)},
	"refused-connection":      {2, 2, 0, "refused refused refused refused"},
	"reconnect":               {3, 2, 0, "refused 200 early-reset 200 refused 200"},
	"silent-connection":       {1, 2, 0, "silent/10s silent/10s"},
	"garbled-body":            {3, 2, 0, "wrong-length wrong-length bad-chunk bad-chunk wrong-length wrong-length"},
	"idle-close":              {1, 3, 2 * time.Second, "503 503 200"},
	"ratelimited":             {2, 4, 3 * time.Second, "503 429/2 200 429/2 503 429/2 200 429/2"},
	"overload":                {1, 2, 0, "200 200"},
	"breaker":                 {1, 4, 12 * time.Second, "503 503 503 200"},
	"budget":                  {1, 3, time.Minute, "503 503 503"},
	"hedge":                   {1, 3, 4 * time.Second, "200/2s 200 200/2s"},
	"herd":                    {2, 4, 0, "503/3s 503 503 200 503/3s 503 503 200"},
	"outage-and-recovery":     {1, 5, 4 * time.Second, "200 200 503 503 200"},
	"poll":                    {1, 16, 0, strings.Repeat("503 ", 10) + "200 200 200 200 200/5s 200"},
	"throttled-fleet":         {1, 11, 0, strings.Repeat("200 ", 9) + "429/3 200"},
	"truncated-body":          {1, 2, 0, "truncate truncate"},
	"goaway":                  {1, 2, 0, "200 200"}, // over HTTP/1.1
	"refused-stream":          {1, 2, 0, "200 200"},
}

// behaviourHTTP2 is what faults that only HTTP/2 has give to Go's client, which sends again by itself what was not processed.
var behaviourHTTP2 = map[string]string{
	"goaway":         "goaway 200 200 goaway 200 200",
	"refused-stream": "refused-stream refused-stream refused-stream 200 200 refused-stream refused-stream refused-stream 200 200",
}

func TestWhatClientsOfHTTP2Meet(t *testing.T) {
	for name, want := range behaviourHTTP2 {
		t.Run(name, func(t *testing.T) {
			s, err := scenarios.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range stubborn(t, s, true, 2, 2, 0) {
				got = append(got, seen(e))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
			}
		})
	}
}

func TestWhatClientsMeet(t *testing.T) {
	for _, s := range scenarios.All() {
		t.Run(s.Name, func(t *testing.T) {
			c, ok := behaviour[s.Name]
			if !ok {
				t.Fatal("nothing says what clients meet")
			}
			var got []string
			for _, e := range stubborn(t, s, false, c.clients, c.requests, c.wait) {
				got = append(got, seen(e))
			}
			if strings.Join(got, " ") != strings.TrimSpace(c.want) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), c.want)
			}
		})
	}
}
