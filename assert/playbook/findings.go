package playbook

import (
	"cmp"
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
)

// Facts are what is known of the history besides its entries.
type Facts struct {
	Files      []string
	Malformed  int
	Began      time.Time     // wall clock at time 0 of the entries; zero: not known
	Until      time.Duration // how long was watched
	Resolution time.Duration // what times are rounded to
	Silent     []string      // clauses that the history can show nothing of
	Notes      []string
	Only       string // the client that alone is of interest; "": all
}

// Findings is the outcome, as plain data.
type Findings struct {
	Version    string          `json:"version"`
	Verdict    assert.Verdict  `json:"verdict"`
	Exit       int             `json:"exit"`
	Contract   report.Contract `json:"contract"`
	Files      []string        `json:"files"`
	Requests   int             `json:"requests"`
	Malformed  int             `json:"malformed"`
	Clients    int             `json:"clients"`
	Began      *time.Time      `json:"began"`
	Seconds    float64         `json:"seconds"`
	ResolvedMS float64         `json:"resolution_ms"`
	Redundant  int             `json:"redundant"` // of all clients that are accused
	Accused    []Client        `json:"accused"`   // the worst first
	Others     []Client        `json:"others"`    // the busiest of those that are not
	Endpoints  []Endpoint      `json:"endpoints"` // the most asked for first
	Alerts     []Alert         `json:"alerts"`
	Notes      []string        `json:"notes"`
}

// Client is one client on one endpoint.
type Client struct {
	Name      string          `json:"client"`
	Method    string          `json:"method"`
	Path      string          `json:"path"` // ids in it are {id}
	Verdict   assert.Verdict  `json:"verdict"`
	Pattern   string          `json:"pattern"` // a sentence: what it does
	Requests  int             `json:"requests"`
	Usual     int             `json:"median_requests"` // of all clients of the endpoint
	Peers     int             `json:"peers"`           // other clients of the endpoint
	Share     float64         `json:"share"`           // of the endpoint's requests
	Statuses  []Status        `json:"statuses"`
	Repeats   int             `json:"repeats"`   // failed requests that came again
	Redundant int             `json:"redundant"` // of these, those that the contract does not allow
	Loops     int             `json:"loops"`
	Payloads  *Payloads       `json:"payloads"` // null where the log tells nothing of them
	Spacing   *Spacing        `json:"spacing"`  // null where nothing came again
	Storm     *Storm          `json:"storm"`    // null where there is none
	PeakRate  int             `json:"peak_per_minute"`
	UsualRate int             `json:"median_peak_per_minute"` // of all clients of the endpoint
	CalmRate  int             `json:"own_calm_per_minute"`    // its own busiest minute while all was well
	Breaks    []report.Result `json:"breaks"`
}

// Status is how often one status came; 0 stands for no answer.
type Status struct {
	Status int     `json:"status"`
	N      int     `json:"n"`
	Share  float64 `json:"share"`
}

// Payloads says how many different payloads the failed requests carried. One that comes again long after counts again.
type Payloads struct {
	Distinct int `json:"distinct"`
	Of       int `json:"of"`
}

// Spacing is the waits before repeats, in milliseconds.
type Spacing struct {
	MinMS    float64 `json:"min_ms"`
	P5MS     float64 `json:"p5_ms"`
	MedianMS float64 `json:"median_ms"`
	MeanMS   float64 `json:"mean_ms"` // rounding of times leaves it as it is
	P95MS    float64 `json:"p95_ms"`
	Fixed    bool    `json:"fixed"` // all alike
}

// Storm is the time in which redundant requests came, counted from the start of the history.
type Storm struct {
	FromS   float64    `json:"from_s"`
	ToS     float64    `json:"to_s"`
	From    *time.Time `json:"from"`
	To      *time.Time `json:"to"`
	Minutes int        `json:"minutes"`         // in which any came
	Rate    float64    `json:"per_minute"`      // redundant requests in each of these, on average
	Peak    int        `json:"peak_per_minute"` // redundant requests in the worst
}

// Endpoint is what all clients asked of one endpoint.
type Endpoint struct {
	Method     string   `json:"method"`
	Path       string   `json:"path"`
	Requests   int      `json:"requests"`
	Clients    int      `json:"clients"`
	Usual      int      `json:"median_requests"`
	UsualRate  int      `json:"median_peak_per_minute"`
	Statuses   []Status `json:"statuses"`
	Redundant  int      `json:"redundant"`
	statusSeen []count
	counts     []int
	peaks      []int
}

// Alert is a client that sent more to one endpoint than a limit.
type Alert struct {
	Limit    assert.Rate `json:"limit"`
	Client   string      `json:"client"`
	Method   string      `json:"method"`
	Path     string      `json:"path"`
	AtS      float64     `json:"at_s"`
	At       *time.Time  `json:"at"` // when it was exceeded first
	Exceeded int         `json:"exceeded"`
}

// mostShown bounds the clients that are not accused and the endpoints that are shown.
const mostShown = 10

// Findings concludes. Add nothing more afterwards.
func (v *Investigation) Findings(f Facts) Findings {
	out := Findings{
		Contract: report.Contract{Name: v.rules.contract.Name, Profile: v.rules.contract.Profile}, Files: f.Files, Requests: v.entries,
		Malformed: f.Malformed, Clients: len(v.clients), Began: wall(f, 0), Seconds: f.Until.Seconds(), ResolvedMS: report.Milliseconds(f.Resolution),
		Notes: f.Notes,
	}
	endpoints := v.endpoints()
	exercised := false
	for _, s := range v.streams {
		usual := endpoints[s.endpoint]
		exercised = exercised || s.failures > 0
		out.Alerts = append(out.Alerts, s.alarms(f)...)
		if !s.accused() {
			continue
		}
		c := s.page(f, usual)
		c.Verdict = assert.Fail
		c.Breaks = v.rules.judge(s, f)
		out.Accused = append(out.Accused, c)
		out.Redundant += s.redundant
		usual.Redundant += s.redundant
	}
	slices.SortStableFunc(out.Accused, func(a, b Client) int {
		return cmp.Or(cmp.Compare(b.Redundant, a.Redundant), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
	out.Others = v.others(f, endpoints)
	out.Endpoints = shownEndpoints(endpoints)
	slices.SortStableFunc(out.Alerts, func(a, b Alert) int { return cmp.Compare(b.Exceeded, a.Exceeded) })
	switch {
	case len(out.Accused) > 0:
		out.Verdict = assert.Fail
	case exercised:
		out.Verdict = assert.Pass
	}
	if f.Only != "" {
		out = out.only(f.Only)
	}
	if len(out.Accused)+len(out.Alerts) > 0 {
		out.Exit = report.ExitBroken
	}
	return out
}

// only leaves the findings about one client.
func (f Findings) only(client string) Findings {
	other := func(c Client) bool { return c.Name != client }
	f.Accused = slices.DeleteFunc(f.Accused, other)
	f.Alerts = slices.DeleteFunc(f.Alerts, func(a Alert) bool { return a.Client != client })
	f.Endpoints = slices.DeleteFunc(f.Endpoints, func(e Endpoint) bool {
		return !slices.ContainsFunc(slices.Concat(f.Accused, f.Others), func(c Client) bool { return c.Method == e.Method && c.Path == e.Path })
	})
	f.Redundant, f.Verdict = 0, assert.NotExercised
	for _, c := range f.Others {
		f.Verdict = max(f.Verdict, c.Verdict)
	}
	for _, c := range f.Accused {
		f.Redundant, f.Verdict = f.Redundant+c.Redundant, assert.Fail
	}
	return f
}

// Has reports whether a client of that name was seen.
func (v *Investigation) Has(client string) bool { return v.clients[client] != nil }

// Names lists the clients, those with the most requests first.
func (v *Investigation) Names() []string {
	requests := map[string]int{}
	for _, s := range v.streams {
		requests[s.client] += s.requests
	}
	names := make([]string, 0, len(v.clients))
	for name := range v.clients {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(requests[b], requests[a]), cmp.Compare(a, b)) })
	return names
}

func wall(f Facts, at time.Duration) *time.Time {
	if f.Began.IsZero() {
		return nil
	}
	t := f.Began.Add(at).UTC().Truncate(time.Millisecond)
	return &t
}

// endpoints sums up what all clients asked of each.
func (v *Investigation) endpoints() map[endpoint]*Endpoint {
	all := map[endpoint]*Endpoint{}
	for _, s := range v.streams {
		s.close()
		e := all[s.endpoint]
		if e == nil {
			e = &Endpoint{Method: s.method, Path: s.path}
			all[s.endpoint] = e
		}
		e.Requests += s.requests
		e.Clients++
		e.counts, e.peaks = append(e.counts, s.requests), append(e.peaks, s.peak)
		for _, c := range s.statuses {
			i := slices.IndexFunc(e.statusSeen, func(x count) bool { return x.status == c.status })
			if i < 0 {
				i, e.statusSeen = len(e.statusSeen), append(e.statusSeen, count{status: c.status})
			}
			e.statusSeen[i].n += c.n
		}
	}
	for _, e := range all {
		e.Usual, e.UsualRate, e.Statuses = median(e.counts), median(e.peaks), shares(e.statusSeen, e.Requests)
	}
	return all
}

func shownEndpoints(all map[endpoint]*Endpoint) []Endpoint {
	var list []Endpoint
	for _, e := range all {
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(b.Redundant, a.Redundant), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return list[:min(len(list), mostShown)]
}

func median(n []int) int {
	slices.Sort(n)
	return n[(len(n)-1)/2]
}

func shares(counts []count, of int) []Status {
	list := make([]Status, 0, len(counts))
	for _, c := range counts {
		list = append(list, Status{c.status, c.n, float64(c.n) / float64(of)})
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Status, b.Status)) })
	return list
}
