package faultserver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// proxied runs a test with a proxy before an upstream, both in virtual time.
func proxied(t *testing.T, upstream http.HandlerFunc, test func(t *testing.T, w *world), options ...faultserver.Option) {
	t.Helper()
	var w *world
	at, err := faultserver.ParseUpstream("http://up.test:80")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		return w.network.DialContext(ctx, network, addr)
	}}
	virtual(t, func(t *testing.T, it *world) {
		w = it
		l, err := w.network.Listen("up.test:80")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: upstream, DisableGeneralOptionsHandler: true, IdleTimeout: time.Second}
		go server.Serve(l)
		defer server.Close()
		test(t, w)
	}, append(options, faultserver.WithUpstream(at), faultserver.WithTransport(transport), faultserver.WithErrorLog(nil))...)
}

// What the client sends reaches the upstream, and what the upstream answers reaches the client, as it was.
func TestProxyIsFaithful(t *testing.T) {
	var got *http.Request
	var body []byte
	upstream := func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "a")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	}
	proxied(t, upstream, func(t *testing.T, w *world) {
		status, text := w.ask(t, "PUT /a//b%2Fc/../d?x=%zz;y&z", "hello", "X-Forwarded-For", "10.1.2.3", faultserver.CallHeader, "c-1", "Accept-Encoding", "br")
		if status != http.StatusTeapot || text != "short and stout" {
			t.Errorf("the client got %d %q", status, text)
		}
		if got.RequestURI != "/a//b%2Fc/../d?x=%zz;y&z" || got.Method != "PUT" || got.Host != "up.test:80" || string(body) != "hello" || got.ContentLength != 5 {
			t.Errorf("the upstream got %s %s %s, %q (%d)", got.Host, got.Method, got.RequestURI, body, got.ContentLength)
		}
		for name, want := range map[string]string{"X-Forwarded-For": "10.1.2.3", faultserver.CallHeader: "c-1", "Accept-Encoding": "br"} {
			if value := got.Header.Get(name); value != want {
				t.Errorf("%s: %q, want %q", name, value, want)
			}
		}
		e := w.last(t)
		if e.Status != 418 || e.Upstream != 418 || e.Rule != "" || !e.Delivered() || e.BodyLen != 5 || !e.BodyWhole || e.BodySum != 0x2cf24dba5fb0a30e {
			t.Errorf("%+v", e)
		}
	})
}

func TestProxyOptionsStar(t *testing.T) {
	var uri string
	proxied(t, func(_ http.ResponseWriter, r *http.Request) { uri = r.RequestURI }, func(t *testing.T, w *world) {
		c, err := w.network.DialContext(t.Context(), "", "api.test:80")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		_, _ = io.ReadAll(c)
		c.Close()
		if uri != "*" {
			t.Errorf("the upstream was asked for %q", uri)
		}
	})
}

// Whatever a request names, the proxy speaks to its upstream alone.
func TestProxySpeaksToOneHost(t *testing.T) {
	var host string
	proxied(t, func(_ http.ResponseWriter, r *http.Request) { host = r.Host }, func(t *testing.T, w *world) {
		for line, want := range map[string]string{"GET http://evil.test/": "HTTP/1.1 200", "CONNECT evil.test:443": "HTTP/1.1 501"} {
			c, err := w.network.DialContext(t.Context(), "", "api.test:80")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, line+" HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n")
			answer, _ := io.ReadAll(c)
			c.Close()
			if !strings.HasPrefix(string(answer), want) {
				t.Errorf("%s: got %q", line, answer)
			}
		}
		if host != "up.test:80" {
			t.Errorf("asked %s", host)
		}
	})
}

// thin is a writer that a fault puts before the server's.
type thin struct{ http.ResponseWriter }

func (t thin) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// Events pass as they come, also when the answer says its length, and through faults that let them pass. The head does not
// wait for them.
func TestProxyStreams(t *testing.T) {
	through := fault.Of("through", faultFunc(func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(thin{w}, r) }))
	for _, c := range []struct {
		name, length string
		rules        []faultserver.Rule
	}{
		{"length unknown", "", nil},
		{"length known", "15", nil},
		{"length unknown, through a fault", "", []faultserver.Rule{{Fault: through}}},
		{"length known, through a fault", "15", []faultserver.Rule{{Fault: through}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			upstream := func(w http.ResponseWriter, _ *http.Request) {
				if c.length != "" {
					w.Header().Set("Content-Length", c.length)
				}
				_ = http.NewResponseController(w).Flush()
				time.Sleep(200 * time.Millisecond)
				for i := range 5 {
					time.Sleep(time.Duration(min(i, 1)) * 200 * time.Millisecond)
					fmt.Fprintf(w, "e%d\n", i)
					_ = http.NewResponseController(w).Flush()
				}
			}
			proxied(t, upstream, func(t *testing.T, w *world) {
				w.use(t, c.rules...)
				began := time.Now()
				answer, err := w.client.Get("http://api.test/")
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				if at := time.Since(began); at != 0 {
					t.Errorf("the head came after %v", at)
				}
				lines := bufio.NewScanner(answer.Body)
				for i := 1; lines.Scan(); i++ {
					if at := time.Since(began); at != time.Duration(i)*200*time.Millisecond {
						t.Errorf("%s came after %v", lines.Text(), at)
					}
				}
				synctest.Wait()
				if e := w.last(t); !e.Delivered() {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

// A large body streams, and is hashed as it passes; a small one is fetched first.
func TestProxyUploads(t *testing.T) {
	upstream := func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err)
	}
	for _, size := range []int{0, 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3 << 20} {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprint(size, chunked), func(t *testing.T) {
				proxied(t, upstream, func(t *testing.T, w *world) {
					var body io.Reader = bytes.NewReader(make([]byte, size))
					if chunked {
						body = io.MultiReader(body) // hides the length
					}
					answer, err := w.client.Post("http://api.test/", "", body)
					if err != nil {
						t.Fatal(err)
					}
					text, _ := io.ReadAll(answer.Body)
					answer.Body.Close()
					synctest.Wait()
					if want := fmt.Sprint(size, nil); string(text) != want {
						t.Errorf("the upstream read %s, want %s", text, want)
					}
					if e := w.last(t); e.BodyLen != int64(size) || !e.BodyWhole || (e.BodySum == 0) != (size == 0) {
						t.Errorf("%+v", e)
					}
				})
			})
		}
	}
}

// The upstream never takes half an upload for a whole one.
func TestProxyBrokenUpload(t *testing.T) {
	for _, head := range []string{"Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"} {
		whole := false
		upstream := func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			whole = err == nil
		}
		proxied(t, upstream, func(t *testing.T, w *world) {
			c, err := w.network.DialContext(t.Context(), "", "api.test:80")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\n"+head)
			time.Sleep(2 * second)
			c.Close()
			synctest.Wait()
			if e := w.last(t); whole || e.BodyLen != 4 || e.BodyWhole || e.Gone != 2*second || e.Upstream != 0 || e.Open {
				t.Errorf("whole %v, %+v", whole, e)
			}
		})
	}
}

// Both sides of an HTTP/2 stream may talk at once: the proxy does not wait for the end of the one to pass on the other.
func TestProxyTalksBothWays(t *testing.T) {
	upstream := func(w http.ResponseWriter, r *http.Request) {
		out, in := http.NewResponseController(w), bufio.NewReader(r.Body)
		_ = out.EnableFullDuplex()
		_ = out.Flush()
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			_, _ = io.WriteString(w, "you said "+line)
			_ = out.Flush()
		}
	}
	proxied(t, upstream, func(t *testing.T, w *world) {
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		transport := &http.Transport{DialContext: w.network.DialContext, Protocols: protocols}
		defer transport.CloseIdleConnections()
		body, say := io.Pipe()
		answer, err := (&http.Client{Transport: transport}).Post("http://api.test/", "", body)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		hear := bufio.NewReader(answer.Body)
		for _, word := range []string{"one\n", "two\n"} {
			_, _ = io.WriteString(say, word)
			if line, err := hear.ReadString('\n'); line != "you said "+word {
				t.Errorf("%q, %v", line, err)
			}
		}
		say.Close()
		_, _ = io.ReadAll(hear)
		synctest.Wait()
		if e := w.last(t); e.BodyLen != 8 || !e.BodyWhole || !e.Delivered() || e.Upstream != 200 {
			t.Errorf("%+v", e)
		}
	})
}

// A fault that answers by itself does not bother the upstream, and reads the upload to its end first.
func TestProxyFaultBeforeUpstream(t *testing.T) {
	asked := 0
	proxied(t, func(http.ResponseWriter, *http.Request) { asked++ }, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Fault: status(503)})
		answer, err := w.client.Post("http://api.test/", "", bytes.NewReader(make([]byte, 3<<20)))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if e := w.last(t); answer.StatusCode != 503 || asked != 0 || e.Upstream != 0 || e.BodyLen != 3<<20 || !e.BodyWhole {
			t.Errorf("status %d, upstream asked %d times, %+v", answer.StatusCode, asked, e)
		}
	})
}

// A fault after the upstream: the journal knows both statuses.
func TestProxyFaultAfterUpstream(t *testing.T) {
	after := fault.Of("after", faultFunc(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&deaf{http.Header{}}, r)
		time.Sleep(3 * second)
		w.WriteHeader(504)
	}))
	proxied(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) }, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Fault: after})
		got := w.do(t, "POST /")
		if e := w.last(t); got != 504 || e.Status != 504 || e.Upstream != 201 || e.Took != 3*second {
			t.Errorf("%d, %+v", got, e)
		}
	})
}

// deaf is a ResponseWriter that keeps nothing.
type deaf struct{ header http.Header }

func (d *deaf) Header() http.Header         { return d.header }
func (d *deaf) WriteHeader(int)             {}
func (d *deaf) Write(p []byte) (int, error) { return len(p), nil }

func TestProxyUpstreamFails(t *testing.T) {
	for _, c := range []struct {
		name     string
		upstream http.HandlerFunc
		status   int
		body     string
		asked    int
		cut      bool
	}{
		{"cuts before the answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 502, "retrygate: no answer from the upstream http://up.test:80: EOF", 0, false},
		{"cuts in the answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "half")
		}, 200, "half!unexpected EOF", 200, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			proxied(t, c.upstream, func(t *testing.T, w *world) {
				status, body := w.ask(t, "GET /", "")
				synctest.Wait()
				if e := w.last(t); status != c.status || strings.TrimSpace(body) != c.body || e.Status != c.status || e.Upstream != c.asked || e.Cut != c.cut || e.Open {
					t.Errorf("%d %q, %+v", status, body, e)
				}
			})
		})
	}
}

func TestProxyUpstreamIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	s := faultserver.New(faultserver.WithUpstream(&url.URL{Scheme: "http", Host: l.Addr().String()}))
	defer s.Close()
	at, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != 502 || !strings.Contains(string(body), "connection refused") {
		t.Errorf("%d %q", answer.StatusCode, body)
	}
	if e := s.Journal().Entries()[0]; e.Status != 502 || e.Upstream != 0 || e.Rule != "" || e.Open {
		t.Errorf("%+v", e)
	}
}

// A client that leaves takes the request to the upstream with it.
func TestProxyClientLeaves(t *testing.T) {
	var gone time.Duration
	upstream := func(_ http.ResponseWriter, r *http.Request) {
		began := time.Now()
		_, _ = io.Copy(io.Discard, r.Body) // net/http notices nothing before
		<-r.Context().Done()
		gone = time.Since(began)
	}
	proxied(t, upstream, func(t *testing.T, w *world) {
		w.client.Timeout = 2 * second
		w.ask(t, "POST /", "body")
		synctest.Wait()
		if e := w.last(t); gone != 2*second || e.Gone != 2*second || e.Status != 0 || e.Upstream != 0 || e.Open {
			t.Errorf("the upstream saw it after %v, %+v", gone, e)
		}
	})
}

// Another protocol passes through, and its connection is not taken for a broken answer.
func TestProxyUpgrade(t *testing.T) {
	upstream := func(w http.ResponseWriter, _ *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(c, "you said "+line)
	}
	proxied(t, upstream, func(t *testing.T, w *world) {
		c, err := w.network.DialContext(t.Context(), "", "api.test:80")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		from := bufio.NewReader(c)
		answer, err := http.ReadResponse(from, nil)
		if err != nil || answer.StatusCode != 101 {
			t.Fatal(answer, err)
		}
		_, _ = io.WriteString(c, "hello\n")
		if all, _ := io.ReadAll(from); string(all) != "you said hello\n" {
			t.Errorf("got %q", all)
		}
		c.Close()
		synctest.Wait()
		if e := w.last(t); e.Status != 101 || e.Upstream != 101 || e.Cut || e.Open {
			t.Errorf("%+v", e)
		}
	})
}

func TestParseUpstream(t *testing.T) {
	for _, good := range []string{"http://127.0.0.1:8080", "https://staging.example.com/api/v1"} {
		if _, err := faultserver.ParseUpstream(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "staging.example.com", "localhost:8080", "ftp://a", "http://", "http://a?x=1", "http://u:p@a", "://", "http://a:65536", "http://a:0"} {
		if _, err := faultserver.ParseUpstream(bad); err == nil || !strings.HasPrefix(err.Error(), "faultserver: upstream") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// What the upstream leaves out, the proxy does not make up, whether its body comes at once or in parts.
func TestProxyGuessesNoContentType(t *testing.T) {
	for _, size := range []int{1, 600, 100_000} {
		upstream := func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = w.Write(make([]byte, size))
		}
		proxied(t, upstream, func(t *testing.T, w *world) {
			answer, err := w.client.Get("http://api.test/")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if kind, typed := answer.Header["Content-Type"]; typed {
				t.Errorf("%d bytes: Content-Type %q", size, kind)
			}
		})
	}
}

// raw is an upstream that answers with these bytes and closes the connection.
func raw(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_, _ = io.WriteString(conn, answer)
			conn.Close()
		}
	}
}

// An answer that cannot be passed on is the upstream's fault, and no panic of this server.
func TestProxyStatusThatThereIsNot(t *testing.T) {
	proxied(t, raw("HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n"), func(t *testing.T, w *world) {
		status, text := w.ask(t, "GET /", "")
		if e := w.last(t); status != 502 || !strings.Contains(text, "status 099, which there is not") || e.Status != 502 || e.Upstream != 99 {
			t.Errorf("%d %q, %+v", status, text, e)
		}
	})
}

// An answer that the upstream breaks off is lost as it was to be lost, and not as the upstream lost it.
func TestProxyLosesBrokenAnswers(t *testing.T) {
	for by, want := range map[fault.Loss]string{fault.ByReset: "reset by peer", fault.ByClose: "EOF", 503: "503"} {
		proxied(t, raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Fault: fault.Of("lose-answer", &fault.LoseAnswer{By: by})})
			status, text := w.ask(t, "POST /", "")
			e := w.last(t)
			if !strings.Contains(fmt.Sprint(status, text), want) || e.Upstream != 200 || e.Fault != "lose-answer" || e.Cut != (status == 0) {
				t.Errorf("%d %q, want %s; %+v", status, text, want, e)
			}
		})
	}
}
