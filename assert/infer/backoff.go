package infer

import (
	"math"
	"slices"
	"time"
)

// Backoff is what the waits between the attempts of calls show. Durations are in milliseconds.
type Backoff struct {
	Calls   int `json:"calls"`   // that waited at least once
	Waits   int `json:"waits"`   // in all
	Retries int `json:"retries"` // of the longest call

	Growth  Growth   `json:"growth"`
	Jitter  Jitter   `json:"jitter"`
	First   *Range   `json:"first_ms"`             // the first wait, as seen; nil without waits
	Initial *Range   `json:"initial_ms,omitempty"` // the wait before the first retry without jitter; nil where no family is named
	Max     *Range   `json:"max_ms,omitempty"`     // the longest wait without jitter; nil where none was reached
	From    float64  `json:"initial_from_ms"`      // what jitter makes of it, at least
	To      float64  `json:"initial_to_ms"`        // and at most
	Longest float64  `json:"longest_ms"`           // wait that was seen
	Notes   []string `json:"notes,omitempty"`
}

// Range is an estimate and what it lies between as far as can be told.
type Range struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Growth says how waits grow from retry to retry. Where that is not decided, Candidates are what remains, the likeliest first.
type Growth struct {
	Family     string      `json:"family"` // one of Families, "undecided", or "unknown" where none fits
	Decided    bool        `json:"decided"`
	Confidence float64     `json:"confidence"` // in the likeliest, 0 to 1
	Multiplier float64     `json:"multiplier,omitempty"`
	Exponent   int         `json:"exponent,omitempty"`
	FirstZero  bool        `json:"first_zero,omitempty"` // the first retry comes at once, and growth begins behind it
	Schedule   []float64   `json:"schedule_ms,omitempty"`
	Named      []string    `json:"named,omitempty"` // published schedules that begin so
	Layers     *Layers     `json:"layers,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"`
	Needs      string      `json:"needs,omitempty"` // what would decide
}

// Layers are two policies, one within the other.
type Layers struct {
	Attempts int    `json:"attempts"` // of the inner one
	Inner    string `json:"inner"`    // family of its waits
	InnerMS  Range  `json:"inner_ms"`
	Outer    string `json:"outer"`
	OuterMS  Range  `json:"outer_ms"`
}

// Candidate is an explanation that the waits leave open.
type Candidate struct {
	Name       string  `json:"name"`
	Multiplier float64 `json:"multiplier,omitempty"`
	Distance   float64 `json:"distance"` // behind the likeliest, as BIC counts; from 6 on it is ruled out
}

// Jitter says how waits are drawn around their curve.
type Jitter struct {
	Kind       JitterKind  `json:"kind"` // "undecided" where several remain
	Decided    bool        `json:"decided"`
	Confidence float64     `json:"confidence"`
	Present    bool        `json:"present"`                // waits before the same retry differ by more than a machine explains
	Ratio      float64     `json:"ratio"`                  // shortest to longest wait before a retry
	Proportion float64     `json:"proportion,omitempty"`   // of proportional jitter
	Added      float64     `json:"added_ms,omitempty"`     // by additive jitter, at most
	FirstStill bool        `json:"first_steady,omitempty"` // the first wait does not vary although others do
	Candidates []Candidate `json:"candidates,omitempty"`
	Needs      string      `json:"needs,omitempty"`
}

// Undecided stands for a family or a kind of jitter where the waits leave several open.
const Undecided = "undecided"

// BackoffOf explains the waits of calls, each in order from its first retry on.
func BackoffOf(calls [][]time.Duration, o Options) Backoff {
	s := newSample(calls, o)
	b := Backoff{Calls: s.calls, Waits: len(s.gaps), Retries: s.retries()}
	if len(s.gaps) == 0 {
		b.Growth, b.Jitter = Growth{Family: Undecided}, Jitter{Kind: Undecided}
		return b
	}
	first := s.by[0]
	b.First = &Range{ms(s.middle[0]), ms(first[0]), ms(first[len(first)-1])}
	b.Longest = ms(s.longest())
	fits := explanations(s)
	if len(fits) == 0 {
		b.Growth, b.Jitter = Growth{Family: Undecided}, Jitter{Kind: Undecided}
		return b
	}
	f := fits[0]
	if f.zero {
		s = s.behindFirst()
	}
	if f.steady > 0 {
		s = s.behindFirst()
	}
	j := judgement{s, fits, f}
	if tooCoarse := s.noise.tick > 0 && (f.family == immediate || s.middle[0] < 2*s.noise.tick); tooCoarse {
		b.Growth = Growth{Family: Undecided, Needs: coarseNeeds(o.Resolution)}
		b.Jitter = Jitter{Kind: Undecided, Needs: coarseNeeds(o.Resolution)}
		return b
	}
	if f.family == immediate && s.mayHide() {
		b.Growth, b.Jitter = Growth{Family: Undecided, Needs: tooLate}, Jitter{Kind: Undecided, Needs: tooLate}
		return b
	}
	b.Growth, b.Jitter = j.growth(), j.jitter()
	b.estimate(j)
	return b
}

func coarseNeeds(tick time.Duration) string {
	return "times are rounded to " + tick.String() + ", and waits shorter than twice that do not show how they grow or differ: a log with finer times would"
}

func ms(seconds float64) float64 { return math.Round(seconds*1e6) / 1e3 }

// judgement is a likeliest fit and those beside it.
type judgement struct {
	*sample
	fits []fit
	best fit
}

// leastNamed is how many retries a family has to explain before it is named.
const leastNamed = 3

func (j judgement) growth() Growth {
	f := j.best
	g := Growth{
		Family: f.family.Name, Multiplier: round(f.multiplier, 100), Exponent: f.exponent, FirstZero: f.zero,
		Confidence: j.share(func(x fit) bool { return x.family == f.family }),
	}
	for _, w := range j.roundSchedule(f.schedule) {
		g.Schedule = append(g.Schedule, ms(w))
	}
	if f.family == list {
		g.Named = namedSchedules(j.roundSchedule(f.schedule))
	}
	if f.family == layers {
		g.Layers = layersOf(f)
	}
	g.Candidates = j.open(func(x fit) Candidate { return Candidate{Name: x.family.Name, Multiplier: round(x.multiplier, 100)} })
	g.Decided = len(g.Candidates) == 0 && f.family != irregular && (j.calls > 1 || f.kind == JitterNone)
	switch n := j.retries(); {
	case f.family == immediate:
		g.Decided = true
	case n < leastNamed:
		g.Decided = false
		g.Confidence = min(g.Confidence, 0.5)
	}
	if g.Decided || f.family == irregular {
		return g
	}
	if len(g.Candidates) == 0 {
		g.Candidates = []Candidate{{Name: f.family.Name, Multiplier: g.Multiplier}}
	}
	g.Family, g.Multiplier, g.Exponent, g.Needs = Undecided, 0, 0, j.growthNeeds(g)
	if j.retries() == 1 {
		g.Candidates, g.Confidence = nil, 0
	}
	return g
}

func (j judgement) jitter() Jitter {
	f := j.best
	x := Jitter{Kind: f.class(), Confidence: j.share(func(x fit) bool { return x.class() == f.class() }), Ratio: 1}
	switch f.family {
	case immediate:
		x.Decided = true
		return x
	case irregular:
		return Jitter{Kind: Undecided, Present: true}
	}
	x.Present = f.kind != JitterNone
	if x.Present && f.top > 0 && f.kind != JitterDecorrelated {
		x.Ratio = round(f.low/f.top, 1000)
	}
	x.FirstStill = f.steady > 0
	x.Candidates = j.open(func(x fit) Candidate { return Candidate{Name: string(x.class())} })
	for _, kind := range j.blurred() {
		if !slices.ContainsFunc(x.Candidates, func(c Candidate) bool { return c.Name == string(kind) }) {
			x.Candidates = append(x.Candidates, Candidate{Name: string(kind)})
		}
	}
	if j.machineMade() && len(x.Candidates) == 0 {
		x.Candidates = []Candidate{{Name: string(f.class())}, {Name: string(JitterNone)}}
		x.Kind, x.Confidence, x.Needs = Undecided, 0.5, "a busy machine alone draws waits apart by as much; a run of verify, which measures that, would tell"
		return x
	}
	if f.kind == JitterNone && len(x.Candidates) == 0 && j.unsteady() {
		return j.hidden()
	}
	x.Decided = len(x.Candidates) == 0
	if j.calls < leastCalls { // a call by itself never shows jitter, and two hardly
		x.Decided, x.Confidence = false, min(x.Confidence, float64(j.calls)/(leastCalls+1))
	}
	if x.Decided {
		return x
	}
	if len(x.Candidates) == 0 {
		x.Candidates = []Candidate{{Name: string(x.Kind)}}
	}
	x.Kind, x.Needs = Undecided, j.jitterNeeds()
	return x
}

// How many calls decide whether waits differ, and how many are so few that chance plays tricks.
const (
	leastCalls = 3
	fewCalls   = 5
)

// unwatched is how far a busy machine may draw waits apart where nobody measured how busy it was.
const unwatched = 0.08

// machineMade reports whether the machine may have made what looks like jitter.
func (j judgement) machineMade() bool {
	f := j.best
	if f.kind == JitterNone || f.kind == JitterDecorrelated || j.noise.watched || j.noise.tick > 0 {
		return false
	}
	widest := 0.0
	for k := range f.curve {
		low, top := j.bounds(&f, k)
		widest = max(widest, top-low)
	}
	return f.curve != nil && widest < unwatched
}

// share is how much of the evidence stands behind some of the fits.
func (j judgement) share(of func(fit) bool) float64 {
	least := j.fits[0].total(j.sample)
	part, all := 0.0, 0.0
	for _, x := range j.fits {
		w := math.Exp(-(x.total(j.sample) - least) / 2)
		all += w
		if of(x) {
			part += w
		}
	}
	return round(part/all, 1000)
}

// open lists what else explains the waits about as well, by name; where nothing does, none. The likeliest comes first.
func (j judgement) open(named func(fit) Candidate) (all []Candidate) {
	least, far := j.best.badness(j.sample), float64(clearly)
	if j.calls < fewCalls {
		far *= 2
	}
	for _, x := range j.fits {
		least = min(least, x.badness(j.sample))
	}
	for _, x := range j.fits {
		c := named(x)
		if c.Distance = max(0, x.badness(j.sample)-least); x.last { // that would explain too much
			c.Distance += x.rank
		}
		c.Distance = round(c.Distance, 10)
		known := slices.ContainsFunc(all, func(other Candidate) bool { return other.Name == c.Name })
		if x.family != irregular && !known && c.Distance < far {
			all = append(all, c)
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// blurred lists the kinds that the range may stand for besides its own: few waits seldom lie at both ends.
func (j judgement) blurred() []JitterKind {
	f := j.best
	if f.kind != JitterProportional && f.kind != JitterFull {
		return nil
	}
	n := float64(len(j.gaps))
	out := 3 * (f.top - f.low) / n
	var all []JitterKind
	for _, low := range [...]float64{max(0, f.low-out), f.low} {
		for _, top := range [...]float64{f.top, f.top + out} {
			if kind := classOf(f.kind, low, top); kind != f.class() && !slices.Contains(all, kind) {
				all = append(all, kind)
			}
		}
	}
	if len(all) > 0 {
		all = append([]JitterKind{f.class()}, all...)
	}
	return all
}

func round(x, steps float64) float64 { return math.Round(x*steps) / steps }

func layersOf(f fit) *Layers {
	whole := func(x *fit) Range {
		top := x.top
		if x.curve != nil {
			top *= slices.Max(x.curve)
		}
		return Range{ms(x.middleOf()), ms(x.low), ms(top)}
	}
	return &Layers{f.period, f.inner.family.Name, whole(f.inner), f.outer.family.Name, whole(f.outer)}
}
