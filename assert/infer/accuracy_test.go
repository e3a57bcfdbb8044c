package infer

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var long = flag.Bool("long", false, "run the accuracy tests with sixty trials each")

// truth is a synthetic client, with the answer that is right.
type truth struct {
	name   string
	family string // of a growth; several, separated by |, where one is as good as the other
	kind   string // of jitter, by ratio: none full wide half narrow additive decorrelated
	wait   func(c *drawing, k int) float64
}

// drawing is one call: what was waited before, and chance.
type drawing struct {
	*rand.Rand
	prev float64
}

func (d *drawing) between(lo, hi float64) float64 { return lo + (hi-lo)*d.Float64() }

func curve(at func(k int) float64, lo, hi float64) func(*drawing, int) float64 {
	return func(c *drawing, k int) float64 { return at(k) * c.between(lo, hi) }
}

func exp(base, q, limit float64) func(k int) float64 {
	return func(k int) float64 { return min(base*math.Pow(q, float64(k)), limit) }
}

func times(base float64, at func(retry int) float64) func(k int) float64 {
	return func(k int) float64 { return base * at(k) }
}

func familyCurve(name string) func(int) float64 {
	f, err := Families.Get(name)
	if err != nil {
		panic(err)
	}
	return f.curve
}

var inf = math.Inf(1)

// truths are the 24 policies.
var truths = []truth{
	{"immediate", "immediate", "none", curve(times(0, constant.curve), 1, 1)},
	{"constant", "constant", "none", curve(times(0.5, constant.curve), 1, 1)},
	{"constant +-20 %", "constant", "narrow", curve(times(0.5, constant.curve), 0.8, 1.2)},
	{"constant full", "constant", "full", curve(times(0.5, constant.curve), 0, 1)},
	{"linear", "linear", "none", curve(times(0.2, linear.curve), 1, 1)},
	{"linear full", "linear", "full", curve(times(0.3, linear.curve), 0, 1)},
	{"linear +-20 %", "linear", "narrow", curve(times(0.2, linear.curve), 0.8, 1.2)},
	{"exp 2", "exponential", "none", curve(exp(0.1, 2, inf), 1, 1)},
	{"exp 2 to a limit", "exponential", "none", curve(exp(0.2, 2, 1), 1, 1)},
	{"exp 2 full", "exponential", "full", curve(exp(0.2, 2, inf), 0, 1)},
	{"exp 2 full to a limit", "exponential", "full", curve(exp(0.2, 2, 0.8), 0, 1)},
	{"exp 2 equal", "exponential", "half", curve(exp(0.2, 2, inf), 0.5, 1)},
	{"exp 2 +-20 % (gRPC)", "exponential", "narrow", curve(exp(0.2, 2, inf), 0.8, 1.2)},
	{"exp 2 +-10 %", "exponential", "narrow", curve(exp(0.2, 2, inf), 0.9, 1.1)},
	{"exp 2 d + U(0, d/2) (S0)", "exponential", "narrow", curve(exp(0.5, 2, inf), 1, 1.5)},
	{"exp 1.5 +-50 % (resilience4j)", "exponential", "wide", curve(exp(0.5, 1.5, inf), 0.5, 1.5)},
	{"exp 1.6 +-20 % (gRPC connection)", "exponential", "narrow", curve(exp(0.5, 1.6, inf), 0.8, 1.2)},
	{"exp 3", "exponential", "none", curve(exp(0.1, 3, inf), 1, 1)},
	{"2^k-1 x [0.8, 1.3] (azcore)", "2^k-1", "narrow", curve(times(0.3, familyCurve("2^k-1")), 0.8, 1.3)},
	{"fibonacci", "fibonacci", "none", curve(times(0.2, familyCurve("fibonacci")), 1, 1)},
	{"fibonacci full", "fibonacci", "full", curve(times(0.3, familyCurve("fibonacci")), 0, 1)},
	{"decorrelated", "decorrelated", "decorrelated", func(c *drawing, k int) float64 {
		if k == 0 {
			c.prev = 0.2
		}
		c.prev = min(20, c.between(0.2, 3*c.prev))
		return c.prev
	}},
	{"exp 2 + U(0, 1 s)", "exponential", "additive", func(c *drawing, k int) float64 { return exp(0.5, 2, inf)(k) + c.between(0, 1) }},
	{"Polly V2 curve", "exponential", "full", func(c *drawing, k int) float64 {
		if k == 0 {
			c.prev = 0
		}
		t := float64(k) + c.Float64()
		next := math.Exp2(t) * math.Tanh(math.Sqrt(4*t))
		wait := max(0, next-c.prev) / 1.4 * 0.5
		c.prev = next
		return wait
	}},
}

// machine is how the time of a run is measured.
type machine struct {
	name                                        string
	late, mean, share, stallFrom, stallTo, tick float64
	scale                                       float64
}

var (
	ci    = machine{"a test machine", 0.0005, 0.002, 0.02, 0.010, 0.100, 0, 1}
	heavy = machine{"a busy machine", 0.001, 0.006, 0.05, 0.020, 0.250, 0, 1}
)

func (m machine) scaled(by float64) machine {
	m.scale, m.name = by, fmt.Sprintf("delays x%v", by)
	return m
}

// run is what a server sees of so many calls with so many retries.
func (m machine) run(p truth, calls, retries int, r *rand.Rand) [][]time.Duration {
	all := make([][]time.Duration, calls)
	for i := range all {
		c := &drawing{Rand: r}
		start := r.Float64()
		for k := range retries {
			wait := p.wait(c, k)*m.scale + m.late + r.ExpFloat64()*m.mean
			if r.Float64() < m.share {
				wait += m.stallFrom + r.Float64()*(m.stallTo-m.stallFrom)
			}
			if m.tick > 0 {
				end := start + wait
				wait = math.Floor(end/m.tick)*m.tick - math.Floor(start/m.tick)*m.tick
				start = end
			}
			all[i] = append(all[i], time.Duration(wait*1e9))
		}
	}
	return all
}

// ratioClass names jitter as the table of truths does.
func ratioClass(f fit) string {
	switch r := f.low / f.top; {
	case f.kind != JitterFull && f.kind != JitterProportional:
		return string(f.kind)
	case r < fullBelow:
		return "full"
	case r < halfFrom:
		return "wide"
	case r <= halfTo:
		return "half"
	default:
		return "narrow"
	}
}

type confusion map[string]map[string]int

func (c confusion) add(truth, called string) {
	if c[truth] == nil {
		c[truth] = map[string]int{}
	}
	c[truth][called]++
}

// String lists what was called something else.
func (c confusion) String() string {
	var b strings.Builder
	for _, truth := range sortedKeys(c) {
		for _, called := range sortedKeys(c[truth]) {
			fmt.Fprintf(&b, "  %-34s called %s: %d\n", truth, called, c[truth][called])
		}
	}
	return b.String()
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// score is the share of runs in which both growth and jitter were named right.
func score(m machine, o Options, calls, retries, trials int, seed uint64) (float64, confusion) {
	right, wrong := 0, confusion{}
	for i, p := range truths {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for range trials {
			f := explanations(newSample(m.run(p, calls, retries, r), o))[0]
			if f.family.Name == p.family && ratioClass(f) == p.kind {
				right++
				continue
			}
			wrong.add(p.name, fmt.Sprintf("%s x%.3g/%s", f.family.Name, f.multiplier, ratioClass(f)))
		}
	}
	return float64(right) / float64(trials*len(truths)), wrong
}

func trials(short int) int {
	if *long {
		return 60
	}
	return short
}

// The policies, machines and accuracies that were agreed on: 20 calls of 5 retries name a policy.
func TestAccuracy(t *testing.T) {
	for _, test := range []struct {
		machine machine
		least   float64
	}{
		{ci, 0.995}, {heavy, 0.985}, {ci.scaled(0.3), 0.99}, {ci.scaled(0.1), 0.97},
	} {
		t.Run(test.machine.name, func(t *testing.T) {
			t.Parallel()
			got, wrong := score(test.machine, Options{}, 20, 5, trials(10), 1)
			t.Logf("%.1f %% right\n%s", got*100, wrong)
			if got < test.least {
				t.Errorf("%.1f %% right, want %.1f\n%s", got*100, test.least*100, wrong)
			}
		})
	}
}

// What is decided is right: nearly all mistakes of the likeliest explanation are cases that are left open.
func TestDecidedIsRight(t *testing.T) {
	for _, test := range []struct{ calls, retries int }{{20, 5}, {10, 4}, {10, 3}, {5, 4}, {3, 3}} {
		t.Run(fmt.Sprintf("%d calls of %d", test.calls, test.retries), func(t *testing.T) {
			t.Parallel()
			decided, wrong, n := 0, confusion{}, trials(4)
			mistakes := 0
			for i, p := range truths {
				r := rand.New(rand.NewPCG(3, uint64(i)))
				for range n {
					b := BackoffOf(ci.run(p, test.calls, test.retries, r), Options{})
					if !b.Growth.Decided {
						continue
					}
					decided++
					if b.Growth.Family != p.family {
						mistakes++
						wrong.add(p.name, b.Growth.Family)
					}
				}
			}
			share := float64(mistakes) / float64(n*len(truths))
			t.Logf("%d of %d decided, %d of them wrong\n%s", decided, n*len(truths), mistakes, wrong)
			if share > 0.01 {
				t.Errorf("%.1f %% decided wrong\n%s", share*100, wrong)
			}
		})
	}
}

// The likeliest explanation by number of calls and retries, as clauses.md has it, in percent.
func TestAccuracyBySamples(t *testing.T) {
	calls := []int{1, 3, 5, 10, 20, 30}
	slack := 15.0 // three standard errors of 48 runs
	if *long {
		slack = 7
	}
	for retries, least := range map[int][]float64{
		2: {21, 41, 47, 53, 58, 59},
		3: {36, 69, 79, 87, 89, 91},
		4: {51, 80, 89, 97, 99.7, 99.2},
		5: {64, 86, 95, 99.2, 99.5, 100},
		6: {67, 92, 98, 100, 99.7, 100},
	} {
		t.Run(fmt.Sprintf("%d retries", retries), func(t *testing.T) {
			t.Parallel()
			line := ""
			for i, m := range calls {
				got, _ := score(ci, Options{}, m, retries, trials(2), 5)
				line += fmt.Sprintf(" %5.1f", got*100)
				if got*100 < least[i]-slack {
					t.Errorf("%d calls: %.1f %% right, want about %.1f", m, got*100, least[i])
				}
			}
			t.Log(line)
		})
	}
}

// What is added may be more than all of the curve: up to a second on 0.1, 0.2 and 0.4 s, the defaults of stamina with three retries.
// It is never taken for full jitter of longer waits, nor that for additive jitter.
func TestAddedBeyondTheCurve(t *testing.T) {
	added := func(c *drawing, k int) float64 { return exp(0.1, 2, inf)(k) + c.between(0, 1) }
	for _, row := range []struct {
		name  string
		wait  func(*drawing, int) float64
		calls int
		never JitterKind
		right JitterKind
	}{
		{"added", added, 16, JitterFull, JitterAdditive},
		{"added", added, 60, JitterFull, JitterAdditive},
		{"constant full", curve(exp(0.5, 1, inf), 0, 1), 16, JitterAdditive, JitterFull},
		{"constant full", curve(exp(0.5, 1, inf), 0, 1), 60, JitterAdditive, JitterFull},
	} {
		right := 0
		r := rand.New(rand.NewPCG(11, uint64(row.calls)))
		const runs = 40
		for range runs {
			b := BackoffOf(ci.run(truth{wait: row.wait}, row.calls, 3, r), Options{})
			if b.Growth.Decided && b.Jitter.Decided && b.Jitter.Kind == row.never {
				t.Errorf("%s, %d calls: %s growth with %s jitter", row.name, row.calls, b.Growth.Family, b.Jitter.Kind)
			}
			if b.Jitter.Decided && b.Jitter.Kind == row.right {
				right++
			}
		}
		if right < runs*3/4 {
			t.Errorf("%s, %d calls: %s jitter in %d of %d runs", row.name, row.calls, row.right, right, runs)
		}
	}
}

// On faster clocks, whatever is late is so much later, and the client's own work with it: what that draws apart is no jitter, and
// jitter beyond it still is.
func TestFasterClocks(t *testing.T) {
	clocks := []float64{1, 1, 6, 6, 36, 36, 36}
	seen := func(p truth, calls int, r *rand.Rand) [][]time.Duration {
		all := ci.run(p, calls, len(clocks), r)
		for _, waits := range all {
			for k := range waits {
				own := time.Duration((0.003 + 0.004*r.Float64()) * 1e9)
				waits[k] += time.Duration(float64(own+time.Duration(1e6*r.ExpFloat64())) * (clocks[k] - 1))
			}
		}
		return all
	}
	for _, row := range []truth{
		{"exponential", "exponential", "none", curve(exp(1, 2, inf), 1, 1)},
		{"exponential to a limit", "exponential", "none", curve(exp(1, 2, 16), 1, 1)},
		{"constant", "constant", "none", curve(exp(8, 1, inf), 1, 1)},
		{"linear", "linear", "none", curve(times(1, linear.curve), 1, 1)},
		{"+-10 %", "exponential", "narrow", curve(exp(1, 2, inf), 0.9, 1.1)},
		{"full", "exponential", "full", curve(exp(1, 2, inf), 0, 1)},
		{"additive", "exponential", "additive", func(c *drawing, k int) float64 { return exp(1, 2, inf)(k) + c.between(0, 1) }},
	} {
		const runs = 40
		right, blind := 0, 0
		r := rand.New(rand.NewPCG(13, 1))
		for range runs {
			waits := seen(row, 6, r)
			named := func(o Options) bool {
				b := BackoffOf(waits, o)
				f := explanations(newSample(waits, o))[0]
				return b.Growth.Decided && b.Jitter.Decided && b.Growth.Family == row.family && ratioClass(f) == row.kind
			}
			if named(Options{Clocks: clocks}) {
				right++
			}
			if named(Options{}) {
				blind++
			}
		}
		t.Logf("%s: %d of %d named, %d by who does not know of the clocks", row.name, right, runs, blind)
		if right < runs*9/10 {
			t.Errorf("%s: named in %d of %d runs", row.name, right, runs)
		}
		if row.kind == "none" && blind > right/2 {
			t.Errorf("%s: named in %d of %d runs by who does not know of the clocks, so that this test shows little", row.name, blind, runs)
		}
	}
}
