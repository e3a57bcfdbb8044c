package faultserver_test

import (
	"bufio"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

const second = time.Second

// Whatever a fault does, the exchange has one entry, closed, that says what reached the client.
func TestEntryOfEachEnding(t *testing.T) {
	hijack := func(t *testing.T, w http.ResponseWriter) net.Conn {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		name   string
		fault  func(t *testing.T) faultFunc
		status int
		body   string // what the client gets, its end says how it broke off
		want   journal.Entry
	}{
		{"status", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.Header().Set("Retry-After", "2")
				http.Error(w, "out", 503)
			}
		}, 503, "out\n", journal.Entry{Status: 503, RetryAfter: "2"}},
		{"nothing at all", func(*testing.T) faultFunc {
			return func(http.ResponseWriter, *http.Request, http.Handler) {}
		}, 200, "", journal.Entry{Status: 200}},
		{"late", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				time.Sleep(3 * second)
				next.ServeHTTP(w, r)
			}
		}, 200, "{\"status\":\"ok\"}\n", journal.Entry{Status: 200, Took: 3 * second, Upstream: 200}},
		{"in pieces", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				for range 3 {
					_, _ = io.WriteString(w, "x")
					_ = http.NewResponseController(w).Flush()
					time.Sleep(second)
				}
			}
		}, 200, "xxx", journal.Entry{Status: 200, Took: 3 * second}},
		{"copied", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				_, _ = w.(io.ReaderFrom).ReadFrom(strings.NewReader("xyz"))
			}
		}, 200, "xyz", journal.Entry{Status: 200}},
		{"early hints first", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.WriteHeader(http.StatusEarlyHints)
				w.WriteHeader(404)
			}
		}, 404, "", journal.Entry{Status: 404}},
		{"status said twice", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.WriteHeader(502)
				w.WriteHeader(200)
			}
		}, 502, "", journal.Entry{Status: 502}},
		{"broken off before a word", func(*testing.T) faultFunc {
			return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
		}, 0, "EOF", journal.Entry{Cut: true}},
		{"broken off after a part", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.Header().Set("Content-Length", "10")
				_, _ = io.WriteString(w, "half")
				panic(http.ErrAbortHandler)
			}
		}, 200, "half!unexpected EOF", journal.Entry{Status: 200, Cut: true}},
		{"shorter than it said", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.Header().Set("Content-Length", "10")
				_, _ = io.WriteString(w, "half")
			}
		}, 200, "half!unexpected EOF", journal.Entry{Status: 200, Cut: true}},
		{"goroutine ended", func(*testing.T) faultFunc {
			return func(http.ResponseWriter, *http.Request, http.Handler) { runtime.Goexit() }
		}, 0, "EOF", journal.Entry{Cut: true}},
		{"reset", func(t *testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				time.Sleep(second)
				c := hijack(t, w)
				_ = c.(interface{ SetLinger(int) error }).SetLinger(0)
				_ = c.Close()
			}
		}, 0, "connection reset by peer", journal.Entry{Cut: true, Took: second}},
		{"garbage", func(t *testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				c := hijack(t, w)
				_, _ = io.WriteString(c, "GARBAGE 200 OK\r\n\r\n")
				_ = c.Close()
			}
		}, 0, "malformed HTTP", journal.Entry{Cut: true}},
		{"a defect in the fault", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.Header().Set("Content-Length", "10")
				panic(errors.New("index out of range"))
			}
		}, 500, "retrygate: a panic while serving this request: index out of range\n", journal.Entry{Status: 500}},
		{"a status that is none", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(42) }
		}, 500, "retrygate: a panic while serving this request: invalid WriteHeader code 42\n", journal.Entry{Status: 500}},
		{"a defect after a part", func(*testing.T) faultFunc {
			return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				_, _ = io.WriteString(w, "half")
				panic("out of range")
			}
		}, 200, "half!unexpected EOF", journal.Entry{Status: 200, Cut: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.use(t, faultserver.Rule{Name: "r", Fault: fault.Of("f", c.fault(t))})
				w.ask(t, "POST /warm-up", "") // the fault must strike on a reused connection too
				status, body := w.ask(t, "POST /path", "hello")
				if status != c.status || !strings.HasSuffix(body, c.body) && !strings.Contains(body, c.body) {
					t.Errorf("the client got %d %q, want %d %q", status, body, c.status, c.body)
				}
				synctest.Wait()
				if n, open := w.Journal().Len(), w.Journal().Pending(); n != 2 || open != 0 {
					t.Errorf("%d entries, %d of them open; want 2, closed", n, open)
				}
				c.want.Rule, c.want.Fault = "r", "f"
				c.want.Method, c.want.Path, c.want.Proto, c.want.Client = "POST", "/path", "HTTP/1.1", "127.0.0.1"
				c.want.BodyLen, c.want.BodySum, c.want.BodyWhole = 5, 0x2cf24dba5fb0a30e, true // SHA-256 of hello
				if diff := cmp.Diff(c.want, w.last(t), cmpopts.IgnoreFields(journal.Entry{}, "Seq", "At", "Conn")); diff != "" {
					t.Error(diff)
				}
				if fired := w.Fired()["r"]; fired != 2 {
					t.Errorf("fired %d times, want 2", fired)
				}
			}, faultserver.WithErrorLog(log.New(io.Discard, "", 0)))
		})
	}
}

// The client's leaving is noted when it happens, to the nanosecond, also when the fault goes on for hours.
func TestClientLeaves(t *testing.T) {
	for _, request := range []string{"GET /", "POST /"} {
		t.Run(request, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.use(t, faultserver.Rule{Fault: fault.Of("stubborn", faultFunc(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
					time.Sleep(time.Hour)
					w.WriteHeader(503)
				}))})
				time.Sleep(second)
				w.client.Timeout = 5 * second
				w.ask(t, request, "body")
				synctest.Wait()
				if e := w.last(t); e.At != second || e.Gone != 6*second || !e.Open || e.Delivered() {
					t.Errorf("while it goes on: %+v", e)
				}
				time.Sleep(2 * time.Hour)
				if e := w.last(t); e.Gone != 6*second || e.Took != time.Hour || e.Open || e.Delivered() {
					t.Errorf("at the end: %+v", e)
				}
			})
		})
	}
}

// A client that stops reading and leaves in the middle of a large answer left early, though nobody watched for it.
func TestClientLeavesInTheAnswer(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		c, err := w.network.DialContext(t.Context(), "", "api.test:80")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		time.Sleep(3 * second)
		c.Close()
		synctest.Wait()
		if e := w.last(t); e.Status != 200 || e.Gone != 3*second || e.Open || e.Delivered() {
			t.Errorf("%+v", e)
		}
	}, faultserver.WithStub(faultserver.Stub{Body: strings.Repeat("x", 1<<20)}))
}

// A hang that ends because the client left sends nothing: no status that nobody meant is journalled.
func TestHangAnswersNothing(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Fault: fault.Of("hang", faultFunc(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }))})
		w.client.Timeout = 2 * second
		if code, text := w.ask(t, "GET /", ""); code != 0 || !strings.Contains(text, "deadline") {
			t.Errorf("got %d, %s", code, text)
		}
		synctest.Wait()
		if e := w.last(t); e.Status != 0 || !e.Cut || e.Open || e.Gone != 2*second || e.Took != 2*second {
			t.Errorf("%+v", e)
		}
	})
}

// The arrival is stamped before the body has come.
func TestArrivalBeforeBody(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		r, body := io.Pipe()
		go func() {
			time.Sleep(4 * second)
			_, _ = io.WriteString(body, "late")
			_ = body.Close()
		}()
		answer, err := w.client.Post("http://api.test/", "", r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if e := w.last(t); e.At != 0 || e.Took != 4*second || e.BodyLen != 4 || !e.BodyWhole {
			t.Errorf("%+v", e)
		}
	})
}

// Whoever has an answer finds its entry closed: 1 in 15 verifications failed on this elsewhere.
func TestEntryIsClosedBeforeTheAnswer(t *testing.T) {
	s := faultserver.New()
	defer s.Close()
	at, err := s.Listen("127.0.0.1:0", "app")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		answer, err := http.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		if open := s.Journal().Pending(); open != 0 || s.Journal().Len() != i+1 {
			t.Fatalf("after answer %d: %d entries, %d open", i+1, s.Journal().Len(), open)
		}
		answer.Body.Close()
	}
}

// Several servers may write one history.
func TestSharedJournal(t *testing.T) {
	shared := journal.New(0)
	for range 2 {
		s := faultserver.New(faultserver.WithJournal(shared))
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		s.Close()
	}
	if shared.Len() != 2 {
		t.Errorf("%d entries", shared.Len())
	}
}

// A client that has the whole answer and closes at once did not leave early.
func TestLeavingWithTheAnswerIsNotLeaving(t *testing.T) {
	s := faultserver.New(faultserver.WithStub(faultserver.Stub{Body: strings.Repeat("x", 100_000)}))
	defer s.Close()
	at, err := s.Listen("127.0.0.1:0", "app")
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	for range n {
		answer, err := http.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		http.DefaultClient.CloseIdleConnections()
	}
	for s.Journal().Pending() > 0 {
		<-s.Journal().Changed()
	}
	for _, e := range s.Journal().Entries() {
		if !e.Delivered() {
			t.Errorf("%+v", e)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		for body, want := range map[string]int{"": 200, "12345678": 200, "123456789": 413, strings.Repeat("x", 100_000): 413} {
			code, _ := w.ask(t, "POST /", body)
			if e := w.last(t); code != want || e.Status != want || e.BodyWhole != (len(body) < 100) {
				t.Errorf("%d bytes: %d, %+v", len(body), code, e)
			}
		}
	}, faultserver.WithBodyLimit(8))
}

// An upload that breaks off is journalled as such, and not answered as if it were whole.
func TestBrokenUpload(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		c, err := w.network.DialContext(t.Context(), "", "api.test:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")
		_ = c.(interface{ CloseWrite() error }).CloseWrite()
		answer, _ := io.ReadAll(c)
		if !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
			t.Errorf("got %q", answer)
		}
		if e := w.last(t); e.BodyLen != 4 || e.BodyWhole || e.Gone == 0 {
			t.Errorf("%+v", e)
		}
	})
}

// Nonsense in a body is the client's mistake, and no sign that it left.
func TestMalformedUpload(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		c, err := w.network.DialContext(t.Context(), "", "api.test:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
		answer, _ := bufio.NewReader(c).ReadString('\n')
		if !strings.HasPrefix(answer, "HTTP/1.1 400") {
			t.Errorf("got %q", answer)
		}
		if e := w.last(t); e.BodyLen != 0 || e.BodyWhole || e.Gone != 0 {
			t.Errorf("%+v", e)
		}
	})
}

// HEAD gets the header of the answer, promised length included, and no body: nothing is cut.
func TestHead(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		answer, err := w.client.Head("http://api.test/")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if e := w.last(t); answer.ContentLength != 16 || !e.Delivered() {
			t.Errorf("length %d, %+v", answer.ContentLength, e)
		}
	})
}

func TestStub(t *testing.T) {
	for _, c := range []struct {
		name                string
		stub                faultserver.Stub
		status              int
		body, header, value string
	}{
		{"default", faultserver.Stub{}, 200, "{\"status\":\"ok\"}\n", "Content-Type", "application/json"},
		{"all set", faultserver.Stub{Status: 201, Headers: map[string]string{"location": "/7", "content-type": "text/csv"}, Body: "a,b"}, 201, "a,b", "Content-Type", "text/csv"},
		{"no content", faultserver.Stub{Status: 204, Body: "ignored"}, 204, "", "Content-Type", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				answer, err := w.client.Get("http://api.test/")
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				body, _ := io.ReadAll(answer.Body)
				if answer.StatusCode != c.status || string(body) != c.body || answer.Header.Get(c.header) != c.value {
					t.Errorf("%d %q, %v", answer.StatusCode, body, answer.Header)
				}
				if e := w.last(t); !e.Delivered() {
					t.Errorf("%+v", e)
				}
			}, faultserver.WithStub(c.stub))
		})
	}
}
