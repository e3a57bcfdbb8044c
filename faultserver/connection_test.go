package faultserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// onConnections says what three requests meet of each kind that acts on connections, 3 s apart: on fresh connections, and
// after one that was answered on a connection from before the plan. Each is written as shown in the journal: "-" stands for
// an attempt of which no request was read.
var onConnections = map[string]struct{ fresh, reused string }{
	"refused":     {"- refused; - refused; - refused", "POST refused; - refused; - refused"},
	"silent":      {"- silent left; - silent left; - silent left", "POST silent left; - silent left; - silent left"},
	"early-reset": {"- early-reset; - early-reset; - early-reset", "POST early-reset; - early-reset; - early-reset"},
	"reset-after": {"POST 200; POST reset-after; POST 200", "POST 200; POST reset-after; POST 200"},
	"idle-close":  {"POST 200 idle-close; POST 200 idle-close; POST 200 idle-close", "POST 200 idle-close; POST 200 idle-close; POST 200 idle-close"},
	"certificate": {"- certificate left; - certificate left; - certificate left", "POST 200; POST 200; POST 200"},
	"handshake":   {"- handshake; - handshake; - handshake", "POST 200; POST 200; POST 200"},
}

// wireText writes down entries as onConnections does.
func wireText(entries []journal.Entry) string {
	var all []string
	for _, e := range entries {
		text := e.Method
		if text == "" {
			text = "-"
		}
		if e.Status != 0 {
			text += fmt.Sprint(" ", e.Status)
		} else if !e.Cut {
			text += " uncut"
		}
		if e.Fault != "" {
			text += " " + e.Fault
		}
		if e.Gone > 0 {
			text += " left"
		}
		if e.Open || e.Conn == 0 || (e.Fault != "") != (e.Rule == "r") || e.Client == "" {
			text += fmt.Sprintf(" %+v", e)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func meetsOnConnections(t *testing.T, w *world, f fault.Spec, version string) {
	want, ok := onConnections[f.Name()]
	if !ok {
		t.Fatal("nothing says what clients meet")
	}
	defer w.speak(version)()
	for name, want := range map[string]string{"fresh": want.fresh, "reused": want.reused} {
		w.use(t)
		if name == "reused" {
			w.do(t, "POST /")
		} else {
			w.client.CloseIdleConnections()
		}
		synctest.Wait() // the connection is in the pool, or closed
		before := w.Journal().Len()
		w.use(t, faultserver.Rule{Name: "r", Fault: f})
		w.client.Timeout = 2 * second
		for range 3 {
			w.ask(t, "POST /", "hello")
			if f.Name() == "silent" {
				w.leave() // over HTTP/2 Go goes on with a connection on which nothing came
			}
			time.Sleep(3 * second)
		}
		synctest.Wait()
		entries := w.Journal().Entries()[before:]
		if got := wireText(entries); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
		if named := uint64(strings.Count(want, f.Name())); w.Fired()["r"] != named || w.Journal().Pending() != 0 {
			t.Errorf("%s: fired %d times, want %d; %d open", name, w.Fired()["r"], named, w.Journal().Pending())
		}
	}
	w.use(t)
	if after := w.do(t, "POST /"); after != http.StatusOK {
		t.Errorf("%d after", after)
	}
}

// The schedule counts connections, and requests on those that were kept alive; chance and clients are told apart by them too.
func TestConnectionRules(t *testing.T) {
	for name, c := range map[string]struct {
		plan string
		want string // of six requests by two clients in turn
	}{
		"all":                  {"rules: [{name: r, when: {first: 3}, fault: refused}]", "- refused; - refused; - refused; POST 200; POST 200; POST 200"},
		"each client":          {"rules: [{name: r, when: {first: 1}, per: client, fault: refused}]", "- refused; - refused; POST 200; POST 200; POST 200; POST 200"},
		"kept alive":           {"rules: [{name: r, when: {sequence: {hits: [3, 5]}}, fault: refused}]", "POST 200; POST 200; POST refused; POST 200; - refused; POST 200"},
		"steps":                {"rules: [{name: r, steps: [refused, pass, early-reset, {reset-after: {requests: 1}}]}]", "- refused; POST 200; - early-reset; POST 200; POST 200; POST reset-after"},
		"a sweep":              {"rules: [{name: r, per: client, sweep: [refused, early-reset]}]", "- refused; - early-reset; - refused; - early-reset; - refused; - early-reset"},
		"then other rules":     {"rules: [{name: c, when: {first: 1}, fault: refused}, {name: r, steps: [pass, 503]}]", "- refused{c}; POST 200; POST 503 status; POST 200; POST 200; POST 200"},
		"the first rule alone": {"rules: [{name: r, fault: {reset-after: {requests: 2}}}, {name: c, when: {first: 1}, fault: refused}]", "POST 200; POST 200; POST 200; POST 200; POST reset-after; POST reset-after"},
		"a pass":               {"rules: [{name: r, steps: [pass, pass, pass, pass, refused, refused]}, {name: c, fault: early-reset}]", "POST 200; POST 200; POST 200; POST 200; POST refused; POST refused"},
		"after some requests":  {"rules: [{name: r, fault: {reset-after: {requests: 2}}}]", "POST 200; POST 200; POST 200; POST 200; POST reset-after; POST reset-after"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.listen(t, "a.test:80", "a")
				w.listen(t, "b.test:80", "b")
				var p faultserver.Plan
				if err := strict.Decode("plan", []byte(c.plan), &p); err != nil {
					t.Fatal(err)
				}
				if err := w.Use(p); err != nil {
					t.Fatal(err)
				}
				for i := range 6 {
					w.do(t, "POST http://"+string("ab"[i%2])+".test/")
				}
				synctest.Wait()
				var got []string
				for _, e := range w.Journal().Entries() {
					text := wireText([]journal.Entry{e})
					if e.Rule == "c" {
						text = "- refused{c}"
					}
					got = append(got, text)
				}
				if text := strings.Join(got, "; "); text != c.want {
					t.Errorf("got  %s\nwant %s", text, c.want)
				}
			})
		})
	}
}

// A fault that stays with a connection goes with its plan, also where its time has begun.
func TestHeldFaultsEndWithThePlan(t *testing.T) {
	for _, held := range []fault.Fault{&fault.IdleClose{After: second}, &fault.ResetAfter{Requests: 1, AtOnce: true}} {
		virtual(t, func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Name: "r", Fault: fault.Of("held", held)})
			w.do(t, "GET /")
			w.use(t)
			for range 2 {
				w.do(t, "GET /")
				time.Sleep(5 * second)
			}
			for _, e := range w.Journal().Entries() {
				if e.Conn != 1 || e.Status != 200 {
					t.Errorf("%T: %+v", held, e)
				}
			}
		})
	}
}

// Connections are reset at once behind the last answer, and not before, however long they are idle between two.
func TestResetAtOnceCounts(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "r", Fault: fault.Of("reset-after", &fault.ResetAfter{Requests: 2, AtOnce: true})})
		for range 4 {
			w.do(t, "GET /")
			time.Sleep(second)
		}
		var conns []uint64
		for _, e := range w.used() {
			conns = append(conns, e.Conn)
		}
		if len(conns) != 4 || conns[0] != conns[1] || conns[1] == conns[2] || conns[2] != conns[3] {
			t.Errorf("the requests came over connections %v", conns)
		}
	})
}

// What comes by chance on one client's connections does not depend on those of others.
func TestConnectionChancePerClient(t *testing.T) {
	run := func(others int) (got string) {
		virtual(t, func(t *testing.T, w *world) {
			w.listen(t, "a.test:80", "a")
			w.listen(t, "b.test:80", "b")
			w.use(t, faultserver.Rule{Name: "r", Per: faultserver.PerClient, Chance: new(0.5), Fault: fault.Of("refused", &fault.Refused{})})
			for range 20 {
				for range others {
					w.do(t, "POST http://b.test/")
				}
				got += fmt.Sprint(" ", w.do(t, "POST http://a.test/"))
				w.client.CloseIdleConnections()
			}
		})
		return got
	}
	if alone := run(0); alone != run(1) || alone != run(3) || !strings.Contains(alone, " 0") || !strings.Contains(alone, " 200") {
		t.Errorf("alone %s; with others %s and %s", alone, run(1), run(3))
	}
}

// The same seed refuses the same connections.
func TestConnectionChance(t *testing.T) {
	run := func(seed uint64) (got string) {
		virtual(t, func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Name: "r", Chance: new(0.5), Fault: fault.Of("refused", &fault.Refused{})})
			for range 40 {
				w.do(t, "POST /")
				w.client.CloseIdleConnections()
			}
			synctest.Wait()
			got = wireText(w.Journal().Entries())
		}, faultserver.WithSeed(seed))
		return got
	}
	one := run(1)
	if refused := strings.Count(one, "refused"); one != run(1) || one == run(2) || refused < 10 || refused > 30 {
		t.Errorf("%d of 40 refused: %s", refused, one)
	}
}

func TestConnectionRulesRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"rules: [{match: {path: /x}, fault: refused}]": "match: the fault acts on connections, before there is a request to match",
		"rules: [{per: call, fault: silent}]":          "per: the fault acts on connections, which belong to no call; say per: client or per: all",
		"rules: [{steps: [refused, 503]}]":             "the rule mixes faults that act on connections with status, which acts on requests; make two rules of it",
		"rules: [{fault: refused}, {fault: 503}]":      "this rule can never act: rule rule-1 before it takes all of its requests",
	} {
		var p faultserver.Plan
		if err := strict.Decode("plan", []byte(text), &p); err == nil || !strings.Contains(err.Error(), want[strings.Index(want, " ")+1:]) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	mixed := fault.Of("both", fault.Chain(&fault.Latency{Fixed: second}, &fault.Refused{}))
	if err := mixed.Check(); err == nil || !strings.Contains(err.Error(), "cannot stand in a list") {
		t.Error(err)
	}
}
