package infer

import (
	"cmp"
	"slices"
)

// Verdict is what a client does after an answer, or with a method.
type Verdict string

// The verdicts.
const (
	Retried        Verdict = "retried"
	NotRetried     Verdict = "not retried"
	Once           Verdict = "once"             // tried again once, although calls may take more attempts
	WithRetryAfter Verdict = "with Retry-After" // tried again only where the answer carries one
	WithKey        Verdict = "with a key"       // tried again only where the request carries an idempotency key
	Sometimes      Verdict = "sometimes"
)

// Answer is what the client does after one status or class of network failure.
type Answer struct {
	Answer     string  `json:"answer"` // 503, or reset
	Network    bool    `json:"network,omitempty"`
	Verdict    Verdict `json:"verdict"`
	Confidence float64 `json:"confidence"`
	Met        int     `json:"met"`     // times that the client met it and had an attempt left
	Retried    int     `json:"retried"` // of these
	Refreshed  int     `json:"refreshed,omitempty"`
	Most       int     `json:"most"` // attempts of a call that met nothing else

	Told int `json:"told"` // of those met, with a Retry-After

	toldRetried   int // of these
	second, again int // of those that the call had met before
}

// Method is whether requests of one method are sent again.
type Method struct {
	Method     string  `json:"method"`
	Verdict    Verdict `json:"verdict"`
	Confidence float64 `json:"confidence"`
	Met        int     `json:"met"` // failures that are retried at least with some method
	Retried    int     `json:"retried"`

	keyed, keyedRetried int
}

// side is where a method is retried or not: after statuses, or after network failures.
type side struct {
	method         string
	keyed, network bool
}

// answersOf looks at every failure after which the client could have tried again.
func answersOf(calls []Call, bound Attempts) ([]Answer, []Method) {
	sides := map[side]bool{}
	each(calls, bound, func(c *Call, i int, again bool) {
		s := side{c.Method, c.Keyed, c.Attempts[i].Network}
		sides[s] = sides[s] || again
	})
	answers := map[string]*Answer{}
	each(calls, bound, func(c *Call, i int, again bool) {
		a := &c.Attempts[i]
		if !sides[side{c.Method, c.Keyed, a.Network}] && anyOf(sides, a.Network) {
			return // of this method nothing is sent again: that says nothing of the answer
		}
		x := answers[a.Answer]
		if x == nil {
			x = &Answer{Answer: a.Answer, Network: a.Network}
			answers[a.Answer] = x
		}
		x.meet(c, i, again)
	})
	methods := map[string]*Method{}
	each(calls, bound, func(c *Call, i int, again bool) {
		if x := answers[c.Attempts[i].Answer]; x == nil || x.Retried == 0 || c.Method == "" { // refused before it said a method
			return
		}
		m := methods[c.Method]
		if m == nil {
			m = &Method{Method: c.Method}
			methods[c.Method] = m
		}
		m.meet(c, again)
	})
	return judged(answers), judgedMethods(methods)
}

// each visits the failures that could have been followed by a retry: those that were, and those that were the last although
// the client had attempts left.
func each(calls []Call, bound Attempts, visit func(c *Call, i int, again bool)) {
	for k := range calls {
		c, tries := &calls[k], 0
		for i := range c.Attempts {
			a := &c.Attempts[i]
			if i == 0 || a.Retry {
				tries++
			}
			switch {
			case !a.Failed:
			case i+1 < len(c.Attempts):
				visit(c, i, c.Attempts[i+1].Retry)
			case c.Over && (bound.Max == 0 && bound.Within == nil || tries < bound.Max || bound.Max == 1):
				visit(c, i, false)
			}
		}
	}
}

func anyOf(sides map[side]bool, network bool) bool {
	for s, again := range sides {
		if again && s.network == network {
			return true
		}
	}
	return false
}

func (x *Answer) meet(c *Call, i int, again bool) {
	a := &c.Attempts[i]
	count := func(n *int, of bool) {
		if of {
			*n++
		}
	}
	x.Met++
	count(&x.Retried, again)
	count(&x.Refreshed, !again && i+1 < len(c.Attempts))
	count(&x.Told, a.Told)
	count(&x.toldRetried, a.Told && again)
	before := i > 0 && c.Attempts[i-1].Answer == a.Answer
	count(&x.second, before)
	count(&x.again, before && again)
	if i == 0 || before && c.Attempts[0].Answer == a.Answer {
		x.Most = max(x.Most, c.tries())
	}
}

func (m *Method) meet(c *Call, again bool) {
	m.Met++
	if again {
		m.Retried++
	}
	if c.Keyed {
		m.keyed++
		if again {
			m.keyedRetried++
		}
	}
}

func judged(found map[string]*Answer) []Answer {
	all := []Answer{}
	for _, x := range found {
		bare, bareRetried := x.Met-x.Told, x.Retried-x.toldRetried
		first, firstRetried := x.Met-x.second, x.Retried-x.again
		switch {
		case x.Retried == 0:
			x.Verdict, x.Confidence = NotRetried, agreeing(x.Met)
		case x.Retried == x.Met:
			x.Verdict, x.Confidence = Retried, agreeing(x.Met)
		case x.Told > 0 && x.toldRetried == x.Told && bare > 0 && bareRetried == 0:
			x.Verdict, x.Confidence = WithRetryAfter, agreeing(min(x.Told, bare))
		case x.second > 0 && x.again == 0 && firstRetried == first:
			x.Verdict, x.Confidence = Once, agreeing(min(first, x.second))
		case x.Retried > 0 && bareRetried == bare: // what it was asked to wait made it give up: see RetryAfter
			x.Verdict, x.Confidence = Retried, agreeing(x.Retried)
		case 20*x.Retried >= 19*x.Met: // a deadline or a budget ended some
			x.Verdict, x.Confidence = Retried, round(float64(x.Retried)/float64(x.Met+1), 1000)
		default:
			x.Verdict, x.Confidence = Sometimes, 0.5
		}
		all = append(all, *x)
	}
	slices.SortFunc(all, func(a, b Answer) int {
		if a.Network != b.Network {
			if a.Network {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Answer, b.Answer)
	})
	return all
}

func judgedMethods(found map[string]*Method) []Method {
	all := []Method{}
	for _, m := range found {
		bare, bareRetried := m.Met-m.keyed, m.Retried-m.keyedRetried
		switch {
		case m.Retried == 0:
			m.Verdict, m.Confidence = NotRetried, agreeing(m.Met)
		case m.keyed > 0 && m.keyedRetried > 0 && bare > 0 && bareRetried == 0:
			m.Verdict, m.Confidence = WithKey, agreeing(min(m.keyed, bare))
		case 2*m.Retried >= m.Met:
			m.Verdict, m.Confidence = Retried, agreeing(m.Retried)
		default:
			m.Verdict, m.Confidence = Sometimes, 0.5
		}
		all = append(all, *m)
	}
	slices.SortFunc(all, func(a, b Method) int { return cmp.Compare(a.Method, b.Method) })
	return all
}
