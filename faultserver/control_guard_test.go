package faultserver_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
)

const secret = "correct-horse-battery-staple"

func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers []string
		token   string
		want    int
	}{
		{"a program", nil, "", 200},
		{"by name", []string{"Host", "LocalHost:81"}, "", 200},
		{"by a name below", []string{"Host", "app.localhost"}, "", 200},
		{"by IPv6", []string{"Host", "[::1]:81"}, "", 200},
		{"by IPv6 alone", []string{"Host", "::1"}, "", 200},
		{"rebound name", []string{"Host", "evil.test:81"}, "", 403},
		{"rebound name that looks local", []string{"Host", "localhost.evil.test"}, "", 403},
		{"other address", []string{"Host", "10.0.0.1"}, "", 403},
		{"any name with a token", []string{"Host", "retrygate.test"}, secret, 200},
		{"page of another site", []string{"Sec-Fetch-Site", "cross-site"}, "", 403},
		{"page of a site beside", []string{"Sec-Fetch-Site", "same-site"}, "", 403},
		{"page of its own", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:81"}, "", 200},
		{"typed in", []string{"Sec-Fetch-Site", "none"}, "", 200},
		{"origin of another site", []string{"Origin", "https://evil.test"}, "", 403},
		{"origin on another port", []string{"Origin", "http://127.0.0.1:82"}, "", 403},
		{"origin that hides", []string{"Origin", "null"}, "", 403},
		{"another site with the token", []string{"Origin", "https://evil.test"}, secret, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			guarded(t, c.token, func(t *testing.T, _ *world, p *pilot) {
				for _, request := range []string{"GET /v1/health", "POST /v1/reset", "GET /v1/none"} {
					want := c.want
					if want == 200 && strings.HasSuffix(request, "none") {
						want = 404
					}
					if r := p.ask(t, request, "", c.headers...); r.status != want || len(r.header["Access-Control-Allow-Origin"]) > 0 {
						t.Errorf("%s: %d, want %d: %s", request, r.status, want, r.body)
					}
				}
			})
		})
	}
}

func TestTokenIsAskedFor(t *testing.T) {
	guarded(t, secret, func(t *testing.T, _ *world, p *pilot) {
		for _, c := range []struct {
			name, authorization string
			want                int
			challenge           string
		}{
			{"none", "", 401, `Bearer realm="retrygate"`},
			{"no value", "Bearer", 401, `Bearer realm="retrygate"`},
			{"another", "Bearer wrong", 401, `Bearer realm="retrygate", error="invalid_token"`},
			{"a part", "Bearer " + secret[:5], 401, `Bearer realm="retrygate", error="invalid_token"`},
			{"another scheme", "Basic " + secret, 401, `Bearer realm="retrygate", error="invalid_token"`},
			{"the token", "Bearer " + secret, 200, ""},
			{"scheme in other letters", "bearer  " + secret + " ", 200, ""},
		} {
			for _, request := range []string{"GET /v1/health", "GET /v1/openapi.json", "PUT /v1/plan", "GET /none"} {
				r := p.ask(t, request, "rules: []", "Authorization", c.authorization)
				if got := r.header.Get("Www-Authenticate"); c.want == 401 && (r.status != 401 || got != c.challenge) || c.want == 200 && r.status == 401 {
					t.Errorf("%s: %s: %d, %q", c.name, request, r.status, got)
				}
				if strings.Contains(string(r.body), secret[:5]) {
					t.Errorf("%s: %s: the answer tells of the token: %s", c.name, request, r.body)
				}
			}
		}
	})
}

func TestControlListensToThisMachineUnlessGuarded(t *testing.T) {
	s := faultserver.New(faultserver.AllowRemote())
	defer s.Close()
	open, guarded := faultserver.NewControl(s), faultserver.NewControl(s, faultserver.WithToken(secret))
	defer open.Close()
	defer guarded.Close()
	if _, err := open.Listen("0.0.0.0:0"); err == nil || !strings.Contains(err.Error(), "use 127.0.0.1:0, or set a token") {
		t.Errorf("without a token: %v", err)
	}
	if url, err := guarded.Listen("0.0.0.0:0"); err != nil || !strings.HasPrefix(url, "http://") {
		t.Errorf("with a token: %q, %v", url, err)
	}
	if _, err := open.Listen("nowhere"); err == nil {
		t.Error("an address without a port is taken")
	}
	open.Close()
	if _, err := open.Listen("127.0.0.1:0"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: %v", err)
	}
}

// Who sends too slowly is told so, and does not hold anything up for ever.
func TestStalledRequestsEnd(t *testing.T) {
	for _, c := range []struct{ name, sent, want string }{
		{"head", "PUT /v1/plan HTTP/1.1\r\nHost: 127", ""},
		{"body", "PUT /v1/plan HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nrules", "HTTP/1.1 408 Request Timeout"},
		{"body where none is wanted", "POST /v1/reset HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n", "HTTP/1.1 408 Request Timeout"},
		{"body that breaks off", "PUT /v1/plan HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400 Bad Request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			piloted(t, func(t *testing.T, w *world, _ *pilot) {
				conn, err := w.network.DialContext(t.Context(), "tcp", "127.0.0.1:81")
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				began := time.Now()
				fmt.Fprint(conn, c.sent)
				in := bufio.NewReader(conn)
				line, _ := in.ReadString('\n')
				_, _ = io.Copy(io.Discard, in)
				if took := time.Since(began); strings.TrimSpace(line) != c.want || took > 40*time.Second {
					t.Errorf("%q after %v", line, took)
				}
			})
		})
	}
}

// A wait, and a stream, may last longer than a client may take to send its request.
func TestPatienceWithAnswersHasNoEnd(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		l := p.stream(t, "GET /v1/journal?follow=true")
		if r := p.ask(t, "GET /v1/wait?idle=10m&timeout=1h", ""); r.status != 200 {
			t.Errorf("%d %s", r.status, r.body)
		}
		w.do(t, "GET /")
		if seqs, ended := l.seqs(t); len(seqs) != 1 || ended {
			t.Errorf("%d, ended: %v", seqs, ended)
		}
		l.answer.Body.Close()
	})
}
