package faultserver_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
)

// wired serves a server and its control API on loopback.
func wired(t *testing.T) (s *faultserver.Server, url string, p *pilot) {
	t.Helper()
	s = faultserver.New()
	url, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	c := faultserver.NewControl(s, faultserver.WithPresets(presets))
	at, err := c.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		c.Close()
		s.Close()
		transport.CloseIdleConnections()
	})
	p = &pilot{Control: c, client: &http.Client{Transport: transport}, at: at}
	p.learn(t)
	return s, url, p
}

func TestControlWorksWhileEverythingHangs(t *testing.T) {
	const hanging = 100
	s, url, p := wired(t)
	if r := p.ask(t, "PUT /v1/plan", "rules: [{name: stuck, fault: hang}]"); r.status != 200 {
		t.Fatalf("%s", r.body)
	}
	var clients sync.WaitGroup
	for range hanging {
		clients.Go(func() {
			if answer, err := p.client.Get(url); err == nil {
				t.Errorf("a hang answered %d", answer.StatusCode)
				answer.Body.Close()
			}
		})
	}
	if r := p.ask(t, fmt.Sprintf("GET /v1/wait?requests=%d", hanging), ""); r.status != 200 {
		t.Errorf("%s", r.body)
	}
	if c := p.counts(t); c.Requests != hanging || c.InFlight != hanging || c.Rules[0].Fired != hanging {
		t.Errorf("%+v", c)
	}
	if r := p.ask(t, "POST /v1/scenarios/outage/start", ""); r.status != 200 {
		t.Errorf("%s", r.body)
	}
	answer, err := p.client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 503 {
		t.Errorf("the new plan gives %d", answer.StatusCode)
	}

	// Nor do those who follow and wait hold up the end.
	follow := p.open(t, "GET /v1/journal?follow=true", "")
	defer follow.Body.Close()
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		if answer, err := p.client.Get(p.at + "/v1/wait?requests=1000&timeout=1h"); err == nil {
			answer.Body.Close()
		}
	}()
	began := time.Now()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, follow.Body)
	<-waited
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
	s.Close()
	clients.Wait()
}

// A large upload is told no, whether the client looks at the answer early or only at the end.
func TestLargePlansAreRefusedOverTheWire(t *testing.T) {
	_, _, p := wired(t)
	for name, body := range map[string]io.Reader{
		"with its length": strings.NewReader(strings.Repeat(" ", 10<<20)),
		"in chunks":       io.MultiReader(strings.NewReader(strings.Repeat(" ", 10<<20))),
	} {
		r, err := http.NewRequest("PUT", p.at+"/v1/plan", body)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := p.client.Do(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", name, answer.StatusCode)
		}
	}
}

// Plans change while hundreds of clients ask. Each request meets one of them, whole, and never one that was replaced
// before it was sent.
func TestPlansAreSwappedAtomically(t *testing.T) {
	const clients, plans = 300, 40
	s := faultserver.New()
	defer s.Close()
	c := faultserver.NewControl(s)
	defer c.Close()
	var inUse atomic.Int64 // the latest plan that was answered
	var storm sync.WaitGroup
	stop := make(chan struct{})
	put := func(n int) {
		text := fmt.Sprintf("rules: [{name: get-%d, match: {methods: [GET]}, fault: %d}, {name: post-%d, match: {methods: [POST]}, fault: %d}]", n, 400+n, n, 500+n)
		r := httptest.NewRequest("PUT", "http://localhost/v1/plan", strings.NewReader(text))
		w := httptest.NewRecorder()
		if c.ServeHTTP(w, r); w.Code != 200 {
			t.Errorf("plan %d: %s", n, w.Body)
		}
		inUse.Store(int64(n))
	}
	put(0)
	for i := range clients {
		storm.Go(func() {
			method, base := "GET", 400
			if i%2 > 0 {
				method, base = "POST", 500
			}
			for {
				select {
				case <-stop:
					return
				default:
				}
				least := int(inUse.Load())
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
				if n := w.Code - base; n < least || n > plans {
					t.Errorf("%s met %d, though plan %d was in use before", method, w.Code, least)
					return
				}
			}
		})
	}
	for n := range plans {
		put(n + 1)
		for seen := s.Journal().Len(); s.Journal().Len() < seen+clients/4 && !t.Failed(); {
			<-s.Journal().Changed()
		}
	}
	close(stop)
	storm.Wait()
	for _, e := range s.Journal().Entries() {
		method, n, _ := strings.Cut(e.Rule, "-")
		if plan, err := strconv.Atoi(n); err != nil || !strings.EqualFold(method, e.Method) || e.Status%100 != plan {
			t.Fatalf("half of one plan and half of another: %+v", e)
		}
	}
}

func TestResetMakesFaultsForget(t *testing.T) {
	_, url, p := wired(t)
	get := func() int {
		answer, err := p.client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if r := p.ask(t, "PUT /v1/plan", "rules: [{fault: {ratelimit: {limits: [2/1h]}}}]"); r.status != 200 {
		t.Fatalf("%s", r.body)
	}
	for range 2 {
		if first, second, third := get(), get(), get(); first != 200 || second != 200 || third != 429 {
			t.Errorf("%d %d %d", first, second, third)
		}
		p.ask(t, "POST /v1/reset", "")
	}
}

// Whoever has an answer finds its request in the journal, closed, however soon he looks.
func TestAnswersAreInTheJournalBeforeTheyArrive(t *testing.T) {
	_, url, p := wired(t)
	p.ask(t, "PUT /v1/plan", "rules: [{steps: [503, 429]}]")
	for i := range 1000 {
		answer, err := p.client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		var found []struct {
			Seq, Status int
			Open        bool
		}
		p.ask(t, fmt.Sprintf("GET /v1/journal?since=%d", i), "").read(t, &found)
		if len(found) != 1 || found[0].Seq != i+1 || found[0].Status != answer.StatusCode || found[0].Open {
			t.Fatalf("after answer %d: %+v", i+1, found)
		}
	}
}

// A plan holds from the next request on, and no longer than it is in use, on connections that were open before too.
func TestPlansReachOpenConnections(t *testing.T) {
	const connections = 20
	s, url, p := wired(t)
	clients := make([]*http.Client, connections)
	for i := range clients {
		clients[i] = &http.Client{Transport: &http.Transport{}}
		defer clients[i].CloseIdleConnections()
	}
	all := func(want int) {
		t.Helper()
		for i, c := range clients {
			answer, err := c.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("connection %d: %d, want %d", i, answer.StatusCode, want)
			}
		}
	}
	all(200)
	p.ask(t, "PUT /v1/plan", "rules: [{fault: 501}]")
	all(501)
	p.ask(t, "POST /v1/scenarios/outage/start", "")
	all(503)
	p.ask(t, "DELETE /v1/plan", "")
	all(200)
	conns := map[uint64]bool{}
	for _, e := range s.Journal().Entries() {
		conns[e.Conn] = true
	}
	if len(conns) != connections {
		t.Errorf("%d connections, want the same %d all the time", len(conns), connections)
	}
}
