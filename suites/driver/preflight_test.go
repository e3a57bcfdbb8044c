package driver

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
)

func TestLookLearnsWhatTheClientDoes(t *testing.T) {
	two := Func("two", func(ctx context.Context, url string) error {
		for _, path := range []string{"/a?n=1", "/b", "/a?n=2"} {
			if _, err := get(ctx, url+path); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range []struct {
		client  Client
		want    []Request
		oneCall bool
	}{
		{once, []Request{{"GET", "/driver/status", 1}}, true},
		{two, []Request{{"GET", "/a", 2}, {"GET", "/b", 1}}, false},
	} {
		t.Run(c.client.Name(), func(t *testing.T) {
			p, err := Look(t.Context(), c.client, Options{Clients: 5})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(p.Requests, c.want) || p.OneCall != c.oneCall || len(p.Notes) != 0 {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestLookSaysWhatSurprises(t *testing.T) {
	need(t, "curl")
	p, err := Look(t.Context(), Command("curl", "-sSf", "{{url}}/x"), Options{Stub: faultserver.Stub{Status: 404}})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Notes) != 2 || !strings.HasPrefix(p.Notes[0], "curl ended with exit code 22 although nothing was disturbed; its output: curl: (22)") ||
		p.Notes[1] != "GET /x was answered 404 although nothing was disturbed" {
		t.Errorf("%q", p.Notes)
	}
}

func TestLookRefusesClientsThatCannotBeJudged(t *testing.T) {
	need(t, "sh", "curl", "sleep")
	for _, c := range []struct {
		name   string
		client Client
		want   any
		text   []string
	}{
		{"not there", Command("no-such-program-here"), new(*StartError), []string{"no such command: no-such-program-here"}},
		{"wrong address", Command("curl", "-sS", "http://127.0.0.1:1/"), new(*SilentError),
			[]string{"curl ended with exit code 7 and never sent a request to http://127.0.0.1:", "; is {{url}} in the command? its output: curl: (7)"}},
		{"lost on the way", Command("sh", "-c", "exit 3", "{{url}}"), new(*SilentError),
			[]string{"sh ended with exit code 3 and never sent a request to http://127.0.0.1:", "; does it reach that address? it printed nothing"}},
		{"idle function", Func("idle", func(context.Context, string) error { return nil }), new(*SilentError),
			[]string{"idle ended without an error and never sent", "; does it use the url that it is given?"}},
		{"endless", times(2), new(*EndlessError),
			[]string{"times did not end within 1 s and was stopped, although every request (2 so far) was answered at once"}},
		{"endless and silent", Command("sleep", "600"), new(*EndlessError),
			[]string{"sleep did not end within 1 s and was stopped; it never sent a request to http://127.0.0.1:", "; is {{url}} in the command?"}},
		{"storm", loop, new(*EndlessError), []string{"loop was stopped after 1", "requests in ", "it would have gone on, although every request"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := time.Second
			if c.name == "storm" || c.name == "wrong address" || c.name == "lost on the way" {
				limit = time.Minute
			}
			_, err := Look(t.Context(), c.client, Options{Limit: limit})
			if !errors.As(err, c.want) {
				t.Fatalf("got %v", err)
			}
			for _, part := range c.text {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got  %s\nwant %s", err, part)
				}
			}
		})
	}
}
