package faultserver_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

const (
	manyClients = 1000
	eachSends   = 6
)

// ownPrograms gives each client its own rule with its own steps, told by the rule's match; what comes behind them is left
// to one rule with a chance. It returns the steps, 0 for those that pass.
func ownPrograms(random *rand.Rand) (rules []faultserver.Rule, programs [][]int) {
	codes := []int{400, 404, 408, 409, 425, 429, 500, 502, 503, 504, 0}
	for i := range manyClients {
		var steps []fault.Spec
		var program []int
		for range 1 + random.IntN(eachSends-1) {
			code := codes[random.IntN(len(codes))]
			program = append(program, code)
			if code == 0 {
				steps = append(steps, fault.Pass())
			} else {
				steps = append(steps, fault.Of("status", &fault.Status{Code: code}))
			}
		}
		rules = append(rules, faultserver.Rule{
			Name: fmt.Sprintf("program-%d", i), Match: faultserver.Match{Path: "/" + strconv.Itoa(i)}, Per: faultserver.PerClient, Steps: steps,
		})
		programs = append(programs, program)
	}
	half := 0.5
	return append(rules, faultserver.Rule{Name: "dice", Per: faultserver.PerClient, Chance: &half, Fault: fault.Of("drawn", faultFunc(
		func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(530 + w.(fault.Draws).Draw().IntN(60))
		}))}), programs
}

// everyone plays clients at once, told apart by a header, by credentials, or by a listener of their own, and returns what the
// journal has of each.
func everyone(t *testing.T, seed uint64, clients int) (slices [manyClients][]journal.Entry, programs [][]int) {
	t.Helper()
	rules, programs := ownPrograms(rand.New(rand.NewPCG(9, 9)))
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, rules...)
		var all sync.WaitGroup
		for i := range clients {
			request, headers := fmt.Sprintf("GET /%d", i), []string{"X-Client", fmt.Sprintf("app-%d", i)}
			switch i % 3 {
			case 1:
				headers = []string{"Authorization", fmt.Sprintf("Bearer %d", i)}
			case 2:
				headers = nil
				if i < 150 {
					host := fmt.Sprintf("own-%d.test:80", i)
					w.listen(t, host, fmt.Sprintf("own-%d", i))
					request = fmt.Sprintf("GET http://%s/%d", host, i)
				} else {
					headers = []string{"X-Api-Key", fmt.Sprintf("key %d", i)}
				}
			}
			all.Go(func() {
				for range eachSends {
					w.do(t, request, headers...)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		names := map[string]int{}
		for _, e := range w.used() {
			i, _ := strconv.Atoi(e.Path[1:])
			if other, seen := names[e.Client]; seen && other != i {
				t.Fatalf("clients %d and %d are both %s", i, other, e.Client)
			}
			names[e.Client] = i
			slices[i] = append(slices[i], e)
		}
		if len(names) != clients {
			t.Errorf("the journal knows %d clients", len(names))
		}
	}, faultserver.WithSeed(seed), faultserver.WithClientHeader("X-Client"))
	return slices, programs
}

// Of 1,000 clients at once, the journal shows for each its own program to the letter, and what comes by chance is the same
// for the same seed, whatever the others did meanwhile.
func TestAThousandProgramsAtOnce(t *testing.T) {
	one, programs := everyone(t, 1, manyClients)
	const few, some = 100, 300
	again, _ := everyone(t, 1, some) // the others stay away
	other, _ := everyone(t, 2, few)
	differ, drawn := 0, 0
	for i, entries := range one {
		for k, e := range entries {
			switch {
			case len(entries) != eachSends:
				t.Fatalf("client %d sent %d requests", i, len(entries))
			case k < len(programs[i]):
				if want := programs[i][k]; want != 0 && (e.Status != want || e.Rule != fmt.Sprintf("program-%d", i)) || want == 0 && (e.Status != 200 || e.Rule != "") {
					t.Errorf("client %d, request %d: %d by %q, want %d", i, k+1, e.Status, e.Rule, want)
				}
			case e.Status != 200 && (e.Rule != "dice" || e.Status < 530) || e.Status == 200 && e.Rule != "":
				t.Errorf("client %d, request %d: %d by %q", i, k+1, e.Status, e.Rule)
			default:
				drawn++
			}
		}
		if i < some && !slices.Equal(statuses(entries), statuses(again[i])) {
			t.Errorf("client %d: %v, then %v with the same seed", i, statuses(entries), statuses(again[i]))
		}
		if i < few && !slices.Equal(statuses(entries), statuses(other[i])) {
			differ++
		}
	}
	if drawn < manyClients || differ < few*3/4 {
		t.Errorf("%d outcomes were left to chance; another seed changes those of %d clients", drawn, differ)
	}
}

// The chance of a rule that counts per client is as good as it says, over the hits of one client and over clients.
func TestChancePerClientIsEven(t *testing.T) {
	for name, c := range map[string]struct{ clients, each int }{"one client": {1, 10_000}, "many clients": {2500, 4}} {
		t.Run(name, func(t *testing.T) {
			s := faultserver.New(faultserver.WithSeed(3), faultserver.WithClientHeader("X-Client"))
			defer s.Close()
			half := 0.5
			if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "a", Per: faultserver.PerClient, Chance: &half, Fault: status(503)}}}); err != nil {
				t.Fatal(err)
			}
			n := c.clients * c.each
			crowd(s, n, 8, func(k int) *http.Request {
				r := plain(k)
				r.Header.Set("X-Client", strconv.Itoa(k%c.clients))
				return r
			})
			if got := s.Fired()["a"]; got < 4750 || got > 5250 { // five sigma
				t.Errorf("%d of %d", got, n)
			}
		})
	}
}
