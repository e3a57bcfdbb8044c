package fault_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

const millisecond = time.Millisecond

// request is what one client sends, and the answer to it. As a writer, it tells what a server knows of the request.
type request struct {
	client, method, target string
	payload                uint64 // 0: none

	answer
	passed bool
}

func (r *request) Client() string                 { return r.client }
func (r *request) Payload() (sum uint64, ok bool) { return r.payload, r.payload != 0 }

// send asks f, without a network. It returns the seconds that the client is to wait, 0 if the request was let through.
func (r *request) send(t *testing.T, f fault.Fault) (wait int) {
	t.Helper()
	at, err := url.Parse(r.target)
	if err != nil {
		t.Fatal(err)
	}
	r.answer, r.passed = answer{header: http.Header{}}, false
	f.Inject(r, &http.Request{Method: r.method, URL: at}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { r.passed = true }))
	if r.passed {
		return 0
	}
	wait, err = strconv.Atoi(r.header.Get("Retry-After"))
	if err != nil || wait < 1 || r.code != 429 {
		t.Fatalf("refused with %d and Retry-After %q", r.code, r.header.Get("Retry-After"))
	}
	return wait
}

func get(t *testing.T, f fault.Fault, client string) (wait int) {
	t.Helper()
	return (&request{client: client, method: "GET", target: "/"}).send(t, f)
}

// arrival is when a request comes, and the seconds that it is told to wait; 0: it is let through.
type arrival struct {
	at   time.Duration
	wait int
}

// spaced are arrivals that are let through.
func spaced(n int, gap time.Duration, then ...arrival) (all []arrival) {
	for i := range n {
		all = append(all, arrival{time.Duration(i) * gap, 0})
	}
	return append(all, then...)
}

func TestRatelimitSlides(t *testing.T) {
	const ms, s = millisecond, time.Second
	for name, c := range map[string]struct {
		limits   []fault.Rate
		arrivals []arrival
	}{
		"one":       {[]fault.Rate{{1, 10 * s}}, []arrival{{0, 0}, {1, 10}, {9999 * ms, 1}, {10 * s, 0}, {20*s - 1, 1}, {20 * s, 0}}},
		"rounds up": {[]fault.Rate{{1, 2 * s}}, []arrival{{0, 0}, {0, 2}, {1, 2}, {s - 1, 2}, {s, 1}, {2*s - 1, 1}, {2 * s, 0}}},
		"fractions": {[]fault.Rate{{1, 1200 * ms}}, []arrival{{0, 0}, {100 * ms, 2}, {1199 * ms, 1}, {1200 * ms, 0}}},
		// Fixed windows would let six through around 10 s.
		"no fixed windows": {[]fault.Rate{{3, 10 * s}},
			[]arrival{{9 * s, 0}, {9500 * ms, 0}, {9900 * ms, 0}, {10100 * ms, 9}, {19*s - 1, 1}, {19 * s, 0}, {19 * s, 1}, {19500 * ms, 0}}},
		"who is refused does not wait longer": {[]fault.Rate{{2, 4 * s}},
			[]arrival{{0, 0}, {0, 0}, {s, 3}, {2 * s, 2}, {3 * s, 1}, {3900 * ms, 1}, {4 * s, 0}, {4 * s, 0}, {4 * s, 4}}},
		"the longest wait of two": {[]fault.Rate{{3, 60 * s}, {2, 10 * s}},
			[]arrival{{0, 0}, {0, 0}, {s, 9}, {10 * s, 0}, {10*s + 1, 50}, {60 * s, 0}, {60 * s, 0}, {60 * s, 10}}},
		"default burst":  {nil, spaced(20, 0, arrival{0, 10}, arrival{10*s - 1, 1}, arrival{10 * s, 0})},
		"default minute": {nil, spaced(100, 510*ms, arrival{51 * s, 9}, arrival{60*s - 1, 1}, arrival{60 * s, 0})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, start := &fault.Ratelimit{Limits: c.limits}, time.Now()
				for i, a := range c.arrivals {
					time.Sleep(a.at - time.Since(start))
					if wait := get(t, f, "c"); wait != a.wait {
						t.Errorf("arrival %d at %v is told to wait %d s, want %d", i+1, a.at, wait, a.wait)
					}
				}
			})
		})
	}
}

// TestRatelimitKeepsEveryWindow sends at random, and counts anew for each request what was let through before it.
func TestRatelimitKeepsEveryWindow(t *testing.T) {
	limits := []fault.Rate{{7, 10 * time.Second}, {3, 1300 * millisecond}, {20, time.Minute}}
	synctest.Test(t, func(t *testing.T) {
		f, random := &fault.Ratelimit{Limits: limits}, rand.New(rand.NewPCG(1, 1))
		start, refused := time.Now(), 0
		var passed []time.Duration
		for range 20_000 {
			time.Sleep(time.Duration(random.ExpFloat64() * float64(time.Second)))
			now := time.Since(start)
			var opens time.Duration
			for _, limit := range limits {
				if k := len(passed) - limit.N; k >= 0 {
					opens = max(opens, passed[k]+limit.Per)
				}
			}
			want := int(max(0, opens-now+time.Second-1) / time.Second)
			wait := get(t, f, "c")
			if wait != want {
				t.Fatalf("after %v: told to wait %d s, want %d", now, wait, want)
			}
			if wait == 0 {
				passed = append(passed, now)
			} else {
				refused++
			}
		}
		if refused < 5000 || len(passed) < 5000 {
			t.Errorf("%d let through, %d refused: too few to tell", len(passed), refused)
		}
	})
}

// TestRatelimitKeepsItsWord has a thousand clients come back as told, not a nanosecond later, each a few times.
func TestRatelimitKeepsItsWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fault.Ratelimit{Limits: []fault.Rate{{5, 7 * time.Second}, {2, 900 * millisecond}}, Identical: &fault.Rate{N: 1, Per: 3 * time.Second}}
		var clients sync.WaitGroup
		defer clients.Wait()
		for i := range 1000 {
			clients.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(i)))
				r := request{client: fmt.Sprint(i), method: "POST", target: "/"}
				for range 20 {
					time.Sleep(time.Duration(random.IntN(int(2 * time.Second))))
					r.payload = 1 + random.Uint64N(3)
					wait := r.send(t, f)
					if wait == 0 {
						continue
					}
					time.Sleep(time.Duration(wait) * time.Second)
					if again := r.send(t, f); again != 0 {
						t.Errorf("client %d waited %d s as told, and is told to wait %d s more", i, wait, again)
					}
				}
			})
		}
	})
}

func TestRatelimitIdenticalPayloads(t *testing.T) {
	first := request{client: "a", method: "POST", target: "/x?q=1", payload: 1}
	for name, c := range map[string]struct {
		other  request
		passes bool
	}{
		"the same":       {first, false},
		"another client": {request{client: "b", method: "POST", target: "/x?q=1", payload: 1}, true},
		"another method": {request{client: "a", method: "PUT", target: "/x?q=1", payload: 1}, true},
		"another path":   {request{client: "a", method: "POST", target: "/y?q=1", payload: 1}, true},
		"another query":  {request{client: "a", method: "POST", target: "/x?q=2", payload: 1}, true},
		"another body":   {request{client: "a", method: "POST", target: "/x?q=1", payload: 2}, true},
		"no body":        {request{client: "a", method: "POST", target: "/x?q=1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fault.Ratelimit{Identical: &fault.Rate{N: 3, Per: time.Minute}}
				for range 3 {
					r := first
					if wait := r.send(t, f); wait != 0 {
						t.Fatalf("told to wait %d s", wait)
					}
					time.Sleep(time.Second)
				}
				for range 3 { // also one without a body, any number of times
					other := c.other
					if wait := other.send(t, f); (wait == 0) != c.passes || !c.passes && wait != 57 {
						t.Errorf("told to wait %d s", wait)
					}
				}
				time.Sleep(57 * time.Second)
				other := c.other
				if wait := other.send(t, f); wait != 0 && !c.passes {
					t.Errorf("told to wait %d s when the minute is over", wait)
				}
			})
		})
	}
}

// TestRatelimitCostsNobodyElse lets one client hammer while others use all that they may.
func TestRatelimitCostsNobodyElse(t *testing.T) {
	for name, hammer := range map[string]request{
		"at its limit":            {client: "hammer", method: "GET", target: "/"},
		"with one payload":        {client: "hammer", method: "POST", target: "/", payload: 1},
		"with the others payload": {client: "hammer", method: "POST", target: "/", payload: 7},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fault.Ratelimit{ // the ceiling has just enough room for all four
					Limits: []fault.Rate{{20, 10 * time.Second}}, Identical: &fault.Rate{N: 20, Per: time.Minute}, Ceiling: &fault.Rate{N: 80, Per: 10 * time.Second}}
				end := time.Now().Add(time.Minute)
				refused := 0
				var clients sync.WaitGroup
				clients.Go(func() {
					for ; time.Now().Before(end); time.Sleep(25 * millisecond) {
						if r := hammer; r.send(t, f) != 0 {
							refused++
						}
					}
				})
				for _, client := range []string{"a", "b", "c"} {
					clients.Go(func() {
						for n := uint64(0); time.Now().Before(end); n++ {
							r := request{client: client, method: "POST", target: "/", payload: 7 + n/20}
							if wait := r.send(t, f); wait != 0 {
								t.Errorf("%s is told to wait %d s", client, wait)
							}
							time.Sleep(500 * millisecond)
						}
					})
				}
				clients.Wait()
				if refused < 2200 {
					t.Errorf("only %d of 2400 were refused", refused)
				}
			})
		})
	}
}

func TestRatelimitCeiling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fault.Ratelimit{Limits: []fault.Rate{{2, 10 * time.Second}}, Ceiling: &fault.Rate{N: 5, Per: 20 * time.Second}}
		for i, want := range []int{0, 0, 10, 0, 0} { // what a is refused takes no room
			if wait := get(t, f, string("aaabb"[i])); wait != want {
				t.Errorf("request %d is told to wait %d s, want %d", i+1, wait, want)
			}
		}
		time.Sleep(5 * time.Second)
		for i, want := range []int{0, 15, 15, 15} { // a's own limit opens after 5 s, but then the ceiling would still be there
			if wait := get(t, f, string("cdca"[i])); wait != want {
				t.Errorf("request %d is told to wait %d s, want %d", i+6, wait, want)
			}
		}
		time.Sleep(15 * time.Second)
		for i, want := range []int{0, 0, 0, 0, 5} { // c's of 15 s ago still counts
			if wait := get(t, f, string("aadde"[i])); wait != want {
				t.Errorf("request %d is told to wait %d s, want %d", i+10, wait, want)
			}
		}
	})
}

func TestRatelimitSaysWhatToDo(t *testing.T) {
	const client = "This client sent 2 requests within 10s, which is its limit, and 2 more that the server refused. " +
		"Wait 9 s before the next one; what comes sooner is refused too, but does not make the wait longer."
	const identical = "This client sent 1 request with one and the same payload within 1m, which is the limit, and 2 more that the server " +
		"refused: something in it goes round in a loop. Do not send the payload again unchanged; if it has to be, wait 59 s."
	const ceiling = "All clients together sent 2 requests within 1m, which is all that this server takes. " +
		"This client is within its own limits; wait 59 s."
	for name, c := range map[string]struct {
		f      *fault.Ratelimit
		before int // requests that are let through
		want   map[string]any
	}{
		"limit": {&fault.Ratelimit{Limits: []fault.Rate{{2, 10 * time.Second}}}, 2, map[string]any{
			"type":  "https://iana.org/assignments/http-problem-types#quota-exceeded",
			"title": "Quota Exceeded", "status": 429.0, "detail": client, "violated-policies": []any{"2/10s"}}},
		"identical": {&fault.Ratelimit{Limits: []fault.Rate{{1, 10 * time.Second}}, Identical: &fault.Rate{N: 1, Per: time.Minute}}, 1, map[string]any{
			"type":  "https://iana.org/assignments/http-problem-types#abnormal-usage-detected",
			"title": "Abnormal Usage Detected", "status": 429.0, "detail": identical, "violated-policies": []any{"identical-payload", "1/10s"}}},
		"identical, and a limit that opens later": {&fault.Ratelimit{Limits: []fault.Rate{{1, time.Minute}}, Identical: &fault.Rate{N: 1, Per: 10 * time.Second}}, 1, map[string]any{
			"type":  "https://iana.org/assignments/http-problem-types#abnormal-usage-detected",
			"title": "Abnormal Usage Detected", "status": 429.0, "detail": strings.Replace(identical, "within 1m", "within 10s", 1), "violated-policies": []any{"identical-payload", "1/1m"}}},
		"ceiling": {&fault.Ratelimit{Limits: []fault.Rate{}, Ceiling: &fault.Rate{N: 2, Per: time.Minute}}, 2, map[string]any{
			"type":  "https://iana.org/assignments/http-problem-types#quota-exceeded",
			"title": "Quota Exceeded", "status": 429.0, "detail": ceiling, "violated-policies": []any{"all-clients"}}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, c.f, healthy(""), func(t *testing.T, client *http.Client, o *outcome) {
				post := func() *http.Response {
					resp, err := client.Post("http://t/", "", strings.NewReader("x"))
					if err != nil {
						t.Fatal(err)
					}
					return resp
				}
				for range c.before {
					post().Body.Close()
				}
				time.Sleep(500 * millisecond)
				post().Body.Close()
				time.Sleep(500 * millisecond)
				resp := post()
				defer resp.Body.Close()
				var got map[string]any
				if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("%v\ngot  %v\nwant %v", err, got, c.want)
				}
				if resp.StatusCode != 429 || resp.Header.Get("Content-Type") != "application/problem+json" || o.cut.Load() != 0 || int(o.asked.Load()) != c.before {
					t.Errorf("%s %v, backend asked %d times", resp.Status, resp.Header, o.asked.Load())
				}
			})
		})
	}
}

func TestRatelimitAdvertises(t *testing.T) {
	f := &fault.Ratelimit{
		Limits: []fault.Rate{{3, 10 * time.Second}, {2, 1500 * millisecond}}, Identical: &fault.Rate{N: 2, Per: time.Minute},
		Ceiling: &fault.Rate{N: 1000, Per: time.Minute}, Advertise: true}
	synctest.Test(t, func(t *testing.T) {
		for i, c := range []struct {
			payload uint64
			policy  string
			limit   string
			wait    int
		}{
			{1, `"identical-payload";q=2;w=60, "3/10s";q=3;w=10, "2/1.5s";q=2`, `"identical-payload";r=1;t=60, "3/10s";r=2;t=10, "2/1.5s";r=1;t=2`, 0},
			{0, `"3/10s";q=3;w=10, "2/1.5s";q=2`, `"3/10s";r=1;t=10, "2/1.5s";r=0;t=1`, 0},
			{2, `"identical-payload";q=2;w=60, "3/10s";q=3;w=10, "2/1.5s";q=2`, `"identical-payload";r=2, "3/10s";r=1;t=9, "2/1.5s";r=0;t=1`, 1},
			{0, `"3/10s";q=3;w=10, "2/1.5s";q=2`, `"3/10s";r=0;t=9, "2/1.5s";r=0;t=1`, 0},
			{0, `"3/10s";q=3;w=10, "2/1.5s";q=2`, `"3/10s";r=0;t=8, "2/1.5s";r=1;t=1`, 8},
		} {
			r := request{client: "a", method: "POST", target: "/", payload: c.payload}
			wait := r.send(t, f)
			policy, limit := r.header.Get("RateLimit-Policy"), r.header.Get("RateLimit")
			if wait != c.wait || policy != c.policy || limit != c.limit {
				t.Errorf("answer %d, wait %d s\n%s\n%s\nwant wait %d s\n%s\n%s", i+1, wait, policy, limit, c.wait, c.policy, c.limit)
			}
			time.Sleep([]time.Duration{600, 600, 300, 1000, 0}[i] * millisecond)
		}
	})
	quiet := request{client: "a", method: "GET", target: "/"}
	quiet.send(t, &fault.Ratelimit{})
	if len(quiet.header) != 0 {
		t.Errorf("headers %v that nobody asked for", quiet.header)
	}
}

// TestRatelimitWithoutAServer tells clients apart by their addresses.
func TestRatelimitWithoutAServer(t *testing.T) {
	f := &fault.Ratelimit{Limits: []fault.Rate{{1, time.Minute}}, Identical: &fault.Rate{N: 1, Per: time.Hour}}
	var codes []int
	for _, addr := range []string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1", "@", "@"} {
		w := &answer{header: http.Header{}}
		f.Inject(w, &http.Request{Method: "POST", URL: &url.URL{Path: "/"}, RemoteAddr: addr}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(200)
		}))
		codes = append(codes, w.code)
	}
	if want := []int{200, 429, 200, 200, 429}; !slices.Equal(codes, want) {
		t.Errorf("got %v, want %v", codes, want)
	}
}

// TestFresh looks for memories in faults that start anew, alone and in a chain.
func TestFresh(t *testing.T) {
	one := []fault.Rate{{1, time.Hour}}
	for name, s := range map[string]fault.Spec{
		"alone":      fault.Of("ratelimit", &fault.Ratelimit{Limits: one}),
		"in a chain": fault.Of("both", fault.Chain(&fault.Ratelimit{Limits: one}, fault.Chain(&fault.Drip{}, &fault.Ratelimit{Limits: one}))),
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Fresh()
			if a.Name() != s.Name() || get(t, a.Fault(), "c") != 0 || get(t, a.Fault(), "c") == 0 {
				t.Errorf("%v does not limit", a)
			}
			if get(t, a.Fresh().Fault(), "c") != 0 || get(t, s.Fault(), "c") != 0 {
				t.Error("what starts anew remembers")
			}
		})
	}
	if s := fault.Of("reset", &fault.Reset{}); s.Fresh() != s {
		t.Error("a fault without a memory is made anew")
	}
}

// TestRatelimitRemembers keeps what it knows of a silent client for as long as its limit looks back.
func TestRatelimitRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fault.Ratelimit{Limits: []fault.Rate{{1, time.Minute}}}
		for round := range 10 {
			time.Sleep(time.Duration(round) * 7 * time.Second)
			if wait := get(t, f, "silent"); wait != 0 {
				t.Errorf("told to wait %d s in round %d", wait, round)
			}
			for i := range 59 {
				time.Sleep(time.Second)
				get(t, f, strconv.Itoa(i))
			}
			if wait := get(t, f, "silent"); wait != 1 {
				t.Errorf("told to wait %d s after 59 s in round %d", wait, round)
			}
			time.Sleep(time.Second)
		}
	})
}

// TestRatelimitForgets bounds what is remembered of clients that come and go, and of one that stays.
func TestRatelimitForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fault.Ratelimit{Limits: []fault.Rate{{20, 10 * time.Second}, {100, time.Minute}}}
		for i := range 140_000 { // all at once
			get(t, f, strconv.Itoa(i))
		}
		if clients, _ := fault.Known(f); clients > 2*fault.MaxKnown {
			t.Errorf("%d clients are remembered", clients)
		}
		for range 100 {
			time.Sleep(20 * time.Second)
			for range 30 {
				get(t, f, "one")
			}
		}
		if clients, times := fault.Known(f); clients > 2 || times > 1000 {
			t.Errorf("%d clients and %d times are remembered", clients, times)
		}
	})
}

// TestRatelimitChecksWhatIsMadeInGo refuses rates that no file could hold.
func TestRatelimitChecksWhatIsMadeInGo(t *testing.T) {
	for want, f := range map[string]*fault.Ratelimit{
		"rate 0/0s: the number 0 is out of range; want 1 to 100000":             {Limits: []fault.Rate{{}}},
		"rate 5/0s: the time 0s is out of range; want 1ms to 24h":               {Identical: &fault.Rate{N: 5}},
		"rate 1000000/1m: the number 1000000 is out of range; want 1 to 100000": {Ceiling: &fault.Rate{N: 1_000_000, Per: time.Minute}},
		"the limit 200/10s never acts: 100/1m is reached first":                 {Limits: []fault.Rate{{100, time.Minute}, {200, 10 * time.Second}}},
		"nothing is limited; want limits, identical or ceiling":                 {Limits: []fault.Rate{}},
	} {
		if err := fault.Of("ratelimit", f).Check(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if err := fault.Of("ratelimit", &fault.Ratelimit{}).Check(); err != nil {
		t.Error(err)
	}
}

// FuzzRate reads what it writes.
func FuzzRate(f *testing.F) {
	for _, text := range []string{"100/1m", "20/10s", " 1 / 1.5h ", "0/1s", "5/s", "1/1ms", "99999999999999999999/1s", "1//1s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r, again fault.Rate
		if r.UnmarshalText([]byte(text)) != nil {
			if r != again {
				t.Errorf("%q is refused and read as %v", text, r)
			}
			return
		}
		if err := again.UnmarshalText([]byte(r.String())); err != nil || again != r {
			t.Errorf("%q reads as %v, and that as %v, %v", text, r, again, err)
		}
	})
}

// BenchmarkRatelimit has one client hammer and one keep its limits, both at once.
func BenchmarkRatelimit(b *testing.B) {
	for name, limit := range map[string]fault.Rate{"passes": {N: 100_000, Per: time.Millisecond}, "refuses": {N: 1, Per: time.Hour}} {
		b.Run(name, func(b *testing.B) {
			l := &fault.Ratelimit{Limits: []fault.Rate{limit, {N: 100_000, Per: 2 * time.Millisecond}}, Ceiling: &fault.Rate{N: 100_000, Per: time.Millisecond}}
			at := &url.URL{Path: "/"}
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				w, r := &request{client: "c", answer: answer{header: http.Header{}}}, &http.Request{Method: "GET", URL: at}
				for p.Next() {
					l.Select(w, r)
				}
			})
		})
	}
}

// Of requests at once, the later may be counted first. The limit opens no sooner for it.
func TestRatesLookBackInOrder(t *testing.T) {
	if opens := fault.OpensAfter(fault.Rate{N: 1, Per: time.Minute}, 5*time.Second, 3*time.Second); opens != 65*time.Second {
		t.Errorf("the limit opens at %v", opens)
	}
}
