package fault_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func spec(t *testing.T, text string) (fault.Spec, error) {
	t.Helper()
	var s fault.Spec
	err := strict.Decode("f", []byte(text), &s)
	return s, err
}

func TestSpecReads(t *testing.T) {
	for text, want := range map[string]struct {
		name  string
		fault fault.Fault // nil: not compared
	}{
		"503":                           {"status", &fault.Status{Code: 503}},
		"pass":                          {"pass", nil},
		"[pass]":                        {"pass", nil},
		"reset":                         {"reset", &fault.Reset{}},
		"{reset: {}}":                   {"reset", &fault.Reset{}},
		"status":                        {"status", &fault.Status{Code: 503}},
		"latency":                       {"latency", &fault.Latency{}},
		"{hang: {for: 3s}}":             {"hang", &fault.Hang{For: 3 * time.Second}},
		"{truncate: {share: 0.25}}":     {"truncate", &fault.Truncate{Share: new(0.25)}},
		"{latency: {fixed: 1s}}":        {"latency", &fault.Latency{Fixed: time.Second}},
		"[{latency: {fixed: 1s}}, 503]": {"latency+status", nil},
		"{status: {code: 429, retry-after: 1500ms, headers: {X-A: b}}}": {"status",
			&fault.Status{Code: 429, RetryAfter: fault.Seconds(1500 * time.Millisecond), Headers: map[string]string{"X-A": "b"}}},
		"{ratelimit: {limits: [5/1s, 1000/1h], identical: 3/1m, ceiling: 100/1s, advertise: true}}": {"ratelimit",
			&fault.Ratelimit{Limits: []fault.Rate{{N: 5, Per: time.Second}, {N: 1000, Per: time.Hour}}, Identical: &fault.Rate{N: 3, Per: time.Minute},
				Ceiling: &fault.Rate{N: 100, Per: time.Second}, Advertise: true}},
		"ratelimit": {"ratelimit", &fault.Ratelimit{}},
		"{ratelimit: {limits: [], ceiling: 5/10s}}": {"ratelimit", &fault.Ratelimit{Limits: []fault.Rate{}, Ceiling: &fault.Rate{N: 5, Per: 10 * time.Second}}},
		"{latency: {pareto: {scale: 1s, shape: 1.5}, max: 9s, at: after}}": {"latency",
			&fault.Latency{Pareto: &fault.Pareto{Scale: time.Second, Shape: 1.5}, Max: 9 * time.Second, At: fault.After}},
	} {
		t.Run(text, func(t *testing.T) {
			s, err := spec(t, text)
			if err != nil || s.Name() != want.name || s.Fault() == nil || s.IsPass() != (want.name == "pass") {
				t.Fatalf("%v: %v", s, err)
			}
			if want.fault != nil && !reflect.DeepEqual(s.Fault(), want.fault) {
				t.Errorf("got %#v; want %#v", s.Fault(), want.fault)
			}
		})
	}
}

func TestSpecRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"99":                                     "f:1:1: code: 99 is out of range; want 200 to 599",
		"503.5":                                  "f:1:1: found the number 503.5; want a whole number such as 3",
		"rest":                                   `f:1:1: unknown fault "rest"; did you mean reset?`,
		"true":                                   "f:1:1: found a truth value; want a fault such as {status: {code: 503}}, 503 or pass",
		"[]":                                     "f:1:1: the list of faults is empty; write pass to leave the exchange alone",
		"[503, pass]":                            "f:1:7: pass cannot stand in a list of faults: the others would act all the same",
		"[[503]]":                                "f:1:2: found a sequence; want a fault such as {status: {code: 503}}, 503 or pass",
		"{}":                                     "f:1:1: 0 faults in one mapping; want one, or a list of faults that apply in order: [{latency: ...}, {status: ...}]",
		"{reset: {}, hang: {}}":                  "f:1:1: 2 faults in one mapping; want one, or a list of faults that apply in order: [{latency: ...}, {status: ...}]",
		"{lag: {}}":                              `f:1:2: unknown fault kind "lag"; known: ` + strings.Join(fault.Kinds.Names(), ", "),
		"{reset: }":                              "f:1:8: reset has no settings; write {reset: {}} or just reset for the defaults",
		"{reset: {now: 1}}":                      `f:1:10: unknown field "now"; known: after`,
		"{reset: 3}":                             "f:1:9: found the number 3; want a mapping with after",
		"{reset: {after: 0}}":                    "f:1:17: 0 bytes is out of range; want 1 or more, or head to read nothing of the body",
		"{close: {after: hed}}":                  `f:1:17: "hed" is no part of a request; want a number of bytes, or a word; did you mean head?`,
		"{status: {code: 600}}":                  "f:1:17: code: 600 is out of range; want 200 to 599",
		"{status: {code: 204, body: x}}":         "f:1:28: a 204 answer has no body; leave body out",
		"{status: {retry-after: -1s}}":           `f:1:24: retry-after: -1s is too small; to send a negative number, write {raw: "-1"}`,
		"{status: {retry-after: 3}}":             "f:1:24: 3 has no unit; write 3s or 3ms",
		"{status: {retry-after: {}}}":            `f:1:24: no Retry-After is given; write it 2s, {date: 3s} or {raw: "soon"}`,
		"{status: {retry-after: {dat: 3s}}}":     `f:1:25: unknown field "dat"; did you mean date?`,
		"{status: {retry-after: {raw: 5}}}":      `f:1:30: found the number 5; want text, so write "5" with the quotes`,
		`{status: {retry-after: {raw: "a\nb"}}}`: "f:1:30: the value of Retry-After has a character that no header may hold",
		"{status: {retry-after: {date: 3s, raw: x}}}":              "f:1:24: an answer has one Retry-After; keep one of seconds, date and raw",
		"{status: {retry-after: {raw: x, form: imf}}}":             "f:1:39: form is for dates; give a date, or leave it out",
		"{status: {retry-after: {raw: x, skew: 1s}}}":              "f:1:39: skew is for dates; give a date, or leave it out",
		"{status: {retry-after: {date: 1s, form: rfc851}}}":        `f:1:41: unknown form of dates "rfc851"; did you mean rfc850?`,
		"{status: {code: 204, problem: {title: x}}}":               "f:1:31: a 204 answer has no body; leave problem out",
		"{status: {body: x, problem: {title: x}}}":                 "f:1:29: body and problem cannot stand together; an answer has one body",
		"{status: {headers: {a b: x}}}":                            `f:1:21: "a b" is no header name; it takes letters, digits and hyphens`,
		`{status: {headers: {a: "x\ny"}}}`:                         "f:1:24: the value of A has a character that no header may hold",
		"{status: {headers: {content-length: 3":                    "f:1:20: not valid YAML: could not find flow mapping end token '}'",
		`{status: {headers: {Content-Length: "3"}}}`:               "f:1:21: Content-Length cannot be set: it follows from the body; to promise more or less than is sent, use the fault wrong-length",
		`{status: {retry-after: 1s, headers: {retry-after: "2"}}}`: "f:1:37: Retry-After stands in headers and is set by a field too; keep one",
		"{latency: {}}": "f:1:11: one of fixed, uniform, normal, lognormal or pareto is needed",
		"{latency: {fixed: 1s, normal: {mean: 1s, stddev: 1s}}}": "f:1:31: fixed and normal cannot stand together; keep one",
		"{latency: {fixed: -1s}}":                                "f:1:19: fixed: -1s is too small; want more than 0s",
		"{latency: {fixed: 1s, max: 0s}}":                        "f:1:28: max: 0s is too small; want more than 0s",
		"{latency: {fixed: 1s, at: afer}}":                       `f:1:27: unknown moment "afer"; did you mean after?`,
		"{latency: {uniform: {min: 2s, max: 1s}}}":               "f:1:36: max 1s is not above min 2s; for one delay, use fixed",
		"{latency: {normal: {mean: 1s}}}":                        "f:1:20: stddev: 0s is too small; want more than 0s",
		"{latency: {lognormal: {median: 1s, sigma: 0}}}":         "f:1:43: sigma: 0 is too small; want more than 0",
		"{latency: {pareto: {scale: 1s, shape: -1}}}":            "f:1:39: shape: -1 is too small; want more than 0",
		"{latency: {fixd: 1s}}":                                  `f:1:12: unknown field "fixd"; did you mean fixed?`,
		"{hang: {for: -1s}}":                                     "f:1:14: for: -1s is too small; want more than 0s",
		"{truncate: {share: 1}}":                                 "f:1:20: share: 1 is out of range; want 0 to below 1, since something must be missing",
		"{truncate: {bytes: -1}}":                                "f:1:20: bytes: -1 is too small; want at least 0",
		"{truncate: {bytes: 1, share: 0.5}}":                     "f:1:30: bytes and share cannot stand together; keep one",
		"[503, reset]":                                           "f:1:7: reset cannot act here: status before it settles the exchange; " + fault.Instead,
		"[lose-answer, {latency: {fixed: 1s}}]":                  "f:1:15: latency cannot act here: lose-answer before it settles the exchange; " + fault.Instead,
		"[{drip: {bytes: 9}}, bad-chunk]":                        "f:1:22: bad-chunk sends the answer by itself, so that drip before it could not act; put it first, or leave one out",
		"[slow-head, wrong-length]":                              "f:1:13: wrong-length sends the answer by itself, so that slow-head before it could not act; put it first, or leave one out",
		"{hang: {interim: 101}}":                                 "f:1:18: interim: 101 is no interim answer; want 100, 102, 103 or another 1xx, except 101",
		"{hang: {interim: 200}}":                                 "f:1:18: interim: 200 is no interim answer; want 100, 102, 103 or another 1xx, except 101",
		"{truncate: {length: 9}}":                                "f:1:21: length goes with bytes: set how much of it is sent",
		"{truncate: {bytes: 9, length: 9}}":                      "f:1:31: length 9 is not above bytes 9; something must be missing",
		"{wrong-length: {by: 0}}":                                "f:1:21: by is 0, so the length would be right; want how much too long it is, or a negative number for too short",
		"{wrong-length: {by: -40000}}":                           "f:1:21: by: -40000 is out of range; want -32768 to 2147483647",
		"{wrong-encoding: {says: gzp}}":                          `f:1:25: unknown content coding "gzp"; did you mean gzip?`,
		"{bad-chunk: {bytes: -1}}":                               "f:1:21: bytes: -1 is too small; want at least 0",
		"{slow-head: {every: 0s}}":                               "f:1:21: every: 0s is too small; want more than 0s",
		"{slow-head: {from: body}}":                              `f:1:20: unknown part "body"; known: status, headers`,
		"{header-flood: {headers: 0}}":                           "f:1:26: headers: 0 is out of range; want 1 to 33554432",
		"{header-flood: {headers: 100000}}":                      "f:1:16: 100000 headers of 1024 bytes make a head of more than 32 MiB, which is all that the server holds",
		"{oversize: {code: 100}}":                                "f:1:19: code: 100 is out of range; want 200 to 599",
		"{oversize: {bytes: 0}}":                                 "f:1:20: bytes: 0 is too small; want at least 1",
		`{garbage: {line: "HTTP/1.1 200"}}`:                      `f:1:18: line: "HTTP/1.1 200" is a status line in order; want one that is not, such as "HTTP/1.1 2OO OK"`,
		`{garbage: {line: "HTTP/1.0 503 Service Unavailable"}}`:  `f:1:18: line: "HTTP/1.0 503 Service Unavailable" is a status line in order; want one that is not, such as "HTTP/1.1 2OO OK"`,
		`{garbage: {line: "a\nb"}}`:                              "f:1:18: line has a line end or another control character in it",
		"{garbage: {line: x, bytes: 3}}":                         "f:1:18: bytes and line cannot stand together; keep one",
		"{redirect: {code: 304}}":                                "f:1:19: code: 304 is no redirect; want 300 to 399, but not 304",
		"{redirect: {loop: 2, chain: 2}}":                        "f:1:29: loop and chain cannot stand together; keep one",
		"{redirect: {chain: 0}}":                                 "f:1:20: chain: 0 is too small; want at least 1",
		"{redirect: {to: /elsewhere}}":                           `f:1:17: to: "/elsewhere" is no URL of another host; write it like http://127.0.0.1:8081/elsewhere`,
		"{redirect: {retry-after: -1s}}":                         `f:1:26: retry-after: -1s is too small; to send a negative number, write {raw: "-1"}`,
		"{auth: {refresh: token}}":                               `f:1:18: refresh: "token" is no path; it starts with a slash, like /oauth/token`,
		"{auth: {lives: 0s}}":                                    "f:1:16: lives: 0s is too small; want more than 0s",
		"{auth: {uses: 0}}":                                      "f:1:15: uses: 0 is too small; want at least 1",
		"{auth: {fails: 200}}":                                   "f:1:16: fails: 200 is out of range; want 400 to 599",
		"{auth: {fails: 400, loops: true}}":                      "f:1:28: fails and loops cannot stand together; the endpoint gives tokens or it does not",
		"{auth: {uses: 3, loops: true}}":                         "f:1:25: tokens that are never good have no lives and uses; leave these out",
		"{fail-before: {by: 200}}":                               `f:1:20: "200" is no way to lose an answer; want reset, close, or a status from 400 to 599`,
		"{lose-answer: {by: rest}}":                              `f:1:20: "rest" is no way to lose an answer; want reset, close, or a status from 400 to 599`,
		"{garbage: {bytes: 0}}":                                  "f:1:19: bytes: 0 is out of range; want 1 to 1048576",
		"{ratelimit: {limits: 5/1s}}":                            `f:1:22: found the text "5/1s"; want a sequence such as [a, b]`,
		"{ratelimit: {limits: [5]}}":                             `f:1:23: rate "5": want a number of requests and a length of time, as in 100/1m`,
		"{ratelimit: {limits: [0/1s]}}":                          "f:1:23: rate 0/1s: the number 0 is out of range; want 1 to 100000",
		"{ratelimit: {limits: [5/s]}}":                           `f:1:23: rate "5/s": "s" is no length of time; want a number of requests and a length of time, as in 100/1m`,
		"{ratelimit: {limits: [x/1s]}}":                          `f:1:23: rate "x/1s": "x" is no number; want a number of requests and a length of time, as in 100/1m`,
		"{ratelimit: {ceiling: 5/25h}}":                          "f:1:23: rate 5/25h: the time 25h is out of range; want 1ms to 24h",
		"{ratelimit: {limits: []}}":                              "f:1:13: nothing is limited; want limits, identical or ceiling",
		"{ratelimit: {limits: [5/1s, 5/1s]}}":                    "f:1:29: the limit 5/1s never acts: 5/1s is reached first",
		"{ratelimit: {limits: [100/1m, 200/10s]}}":               "f:1:31: the limit 200/10s never acts: 100/1m is reached first",
		"{ratelimit: {limits: [600/1m, 10/1s]}}":                 "f:1:23: the limit 600/1m never acts: 10/1s is reached first",
		"{ratelimit: {limits: [20/10s], identical: 200/1m}}":     "f:1:43: the limit 200/1m on identical payloads never acts: the limit 20/10s of the client is reached first",
		"{ratelimit: {ceiling: 20/10s}}":                         "f:1:23: under a ceiling of 20/10s the limit 20/10s never acts, and one client can take everything from the others; want a ceiling far above what one client may send, or limits: [] to see what comes of that",
		"{ratelimit: {limit: [5/1s]}}":                           `f:1:14: unknown field "limit"; did you mean limits?`,
		"[{latency: {fixed: 1s}}, refused]":                      "f:1:26: refused acts on connections and cannot stand in a list of faults; give it a rule of its own",
		"{reset-after: {requests: 0}}":                           "f:1:26: requests: 0 is too small; want at least 1",
		"{idle-close: {after: 0s}}":                              "f:1:22: after: 0s is too small; want more than 0s",
		"{drip: {bytes: 0}}":                                     "f:1:16: bytes: 0 is too small; want at least 1",
		"{drip: {every: 0s}}":                                    "f:1:16: every: 0s is too small; want more than 0s",
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := spec(t, text); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestSpecInGo(t *testing.T) {
	var none fault.Spec
	if none.Fault() != nil || none.Name() != "" || none.IsPass() || none.String() != "no fault" {
		t.Errorf("the zero Spec says something: %v", none)
	}
	asked := false
	fault.Pass().Fault().Inject(nil, nil, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	if !asked || !fault.Pass().IsPass() {
		t.Error("pass does not leave the exchange alone")
	}
	if s := fault.Of("mine", &fault.Reset{}); s.Name() != "mine" || s.Fault() == nil || s.String() != "fault mine" {
		t.Error(s)
	}
}

// TestKinds is the catalogue's test: every kind is described, and its example reads and is its own.
func TestKinds(t *testing.T) {
	for _, kind := range fault.Kinds.All() {
		t.Run(kind.Name, func(t *testing.T) {
			if kind.Summary == "" || strings.HasSuffix(kind.Summary, ".") || strings.ContainsRune(kind.Summary, '\n') {
				t.Errorf("the summary is not one line without a full stop: %q", kind.Summary)
			}
			s, err := spec(t, kind.Example)
			if err != nil || s.Name() != kind.Name {
				t.Errorf("the example reads as %v: %v", s, err)
			}
			if alone, err := spec(t, kind.Name); err != nil || alone.Name() != kind.Name {
				t.Errorf("the bare name reads as %v: %v", alone, err)
			}
			for _, s := range strict.Settings(kind.New()) {
				if s.Doc == "" {
					t.Errorf("nothing says what %s is", s.Name)
				}
			}
			if f := kind.New(); reflect.TypeOf(f) != reflect.TypeOf(s.Fault()) {
				t.Errorf("New gives %T, the example %T", f, s.Fault())
			}
		})
	}
}

// TestEveryKindFires lets each kind's example and its defaults loose on healthy exchanges and looks for a difference.
func TestEveryKindFires(t *testing.T) {
	for _, kind := range fault.Kinds.All() {
		for how, text := range map[string]string{"example": kind.Example, "defaults": kind.Name} {
			t.Run(kind.Name+" "+how, func(t *testing.T) {
				s, err := spec(t, text)
				if err != nil {
					t.Fatal(err)
				}
				if s.OnStreams() {
					firesOnStreams(t, s)
					return
				}
				if s.InHandshake() {
					return // there is none here; the server's tests have it
				}
				virtual(t, withSeed{s.Fresh().Fault(), 1}, healthy("0123456789"), func(t *testing.T, client *http.Client, o *outcome) {
					client.Timeout = time.Minute
					const many = 50
					start, spared := time.Now(), 0
					for start.Equal(time.Now()) && spared < many {
						resp, err := client.Post("http://t/", "", strings.NewReader("x"))
						flooded := err == nil && len(resp.Header) > 10
						if describe(resp, err) != `200 "0123456789"` || flooded {
							break
						}
						spared++
					}
					if !start.Equal(time.Now()) {
						spared = 0
					}
					if spared == many || how == "example" && spared != kind.Spares {
						t.Errorf("%d exchanges went as if there were no fault", spared)
					}
				})
			})
		}
	}
}

func TestChainAppliesInOrder(t *testing.T) {
	f := fault.Chain(&fault.Latency{Fixed: 3 * time.Second}, &fault.Drip{Bytes: 5, Every: time.Second}, &fault.Truncate{Bytes: new(7)})
	virtual(t, f, healthy("0123456789"), func(t *testing.T, client *http.Client, o *outcome) {
		start := time.Now()
		resp, err := client.Post("http://t/", "", nil)
		head := time.Since(start)
		got := describe(resp, err)
		if !strings.Contains(got, "200, then error: unexpected EOF") || head != 3*time.Second || time.Since(start) != 4*time.Second {
			t.Errorf("%s: head after %v, end after %v", got, head, time.Since(start))
		}
	})
	fault.Chain().Inject(nil, nil, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

func TestSpecSchemaNamesEveryKind(t *testing.T) {
	text, err := json.Marshal(strict.Schema(fault.Spec{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(fault.Kinds.Names(), "pass", "retry-after", "lognormal") {
		if !strings.Contains(string(text), `"`+name+`"`) {
			t.Errorf("the schema does not know %s", name)
		}
	}
}
