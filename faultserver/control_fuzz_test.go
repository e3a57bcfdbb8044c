package faultserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// Whatever is asked, the API answers in JSON, and blames nobody but the asker. What was refused has changed nothing.
func FuzzControl(f *testing.F) {
	for _, c := range badInput {
		method, target, _ := strings.Cut(c.request, " ")
		if len(c.body) < 1<<10 {
			f.Add(method, target, c.media, c.body)
		}
	}
	for _, request := range []string{"GET /v1/plan", "GET /v1/journal?status=5xx&from=1s&path-prefix=/", "GET /v1/wait?requests=1", "POST /v1/reset",
		"GET /v1/journal?follow=true", "POST /v1/scenarios/out%61ge/start?reset=true", "GET /v1/openapi.json", "DELETE /v1/plan"} {
		method, target, _ := strings.Cut(request, " ")
		f.Add(method, target, "", "")
	}
	f.Add("PUT", "/v1/plan?reset=true", "application/json", `{"rules": [{"steps": [503, "pass"], "chance": 0.5}]}`)
	f.Add("PUT", "/v1/plan", "text/yaml", "rules: [{fault: [{latency: {fixed: 1s}}, reset], per: client, when: {first: 2}}]")

	s := faultserver.New()
	f.Cleanup(func() { s.Close() })
	c := faultserver.NewControl(s, faultserver.WithPresets(presets))
	ended, end := context.WithCancel(context.Background())
	end() // nothing waits
	ask := func(method string, u *url.URL, media, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ended, "GET", "http://localhost/", strings.NewReader(body))
		r.Method, r.URL = method, u
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		return w
	}
	plan := func() string { return ask("GET", &url.URL{Path: "/v1/plan"}, "", "").Body.String() }
	f.Fuzz(func(t *testing.T, method, target, media, body string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			t.Skip()
		}
		s.Journal().Arrive(journal.Arrival{Method: method, Path: target}).Close()
		before := plan()
		w := ask(method, u, media, body)
		kind := w.Header().Get("Content-Type")
		if kind != "application/x-ndjson" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d with %q", w.Code, w.Body)
		}
		switch waited := w.Code == http.StatusServiceUnavailable && u.Path == "/v1/wait"; {
		case w.Code == 200:
		case (w.Code < 400 || w.Code > 499) && !waited || kind != "application/problem+json":
			t.Errorf("%d as %s: %s", w.Code, kind, w.Body)
		case plan() != before:
			t.Errorf("%d, but the plan is another", w.Code)
		}
	})
}
