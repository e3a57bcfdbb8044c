package infer

import (
	"cmp"
	"slices"
	"time"
)

// Budget is a bound on the retries of all calls of a client together.
type Budget struct {
	Ratio      float64 `json:"ratio"` // retries for each first attempt while it holds
	Free       int     `json:"free"`  // retries before it held
	Confidence float64 `json:"confidence"`
}

// Breaker is a pause in which a client calls a failing server no more.
type Breaker struct {
	Failures   int     `json:"failures"` // in a row before it opened
	Open       *Range  `json:"open_ms"`
	Probes     int     `json:"probes"` // calls between two pauses, at most
	Confidence float64 `json:"confidence"`
}

// What it takes to see either.
const (
	budgetCalls   = 20 // failing calls of one client
	breakerPauses = 2
	breakerRun    = 5  // failures in a row before a pause
	pauseFactor   = 10 // times as long as the usual time between calls
)

// protections looks for budgets and breakers, client by client in each run. Both show only where a client makes many calls.
func protections(calls []Call, bound Attempts) (budget *Budget, breaker *Breaker) {
	type client struct {
		run, name string
	}
	byClient := map[client][]*Call{}
	var clients []client
	for i := range calls {
		c := client{calls[i].Run, calls[i].Client}
		if byClient[c] == nil {
			clients = append(clients, c)
		}
		byClient[c] = append(byClient[c], &calls[i])
	}
	for _, c := range clients {
		list := byClient[c]
		slices.SortFunc(list, func(a, b *Call) int { return cmp.Compare(a.Attempts[0].At, b.Attempts[0].At) })
		if breaker == nil {
			breaker = breakerOf(list)
		}
		if budget == nil && breaker == nil {
			budget = budgetOf(list, bound)
		}
	}
	return budget, breaker
}

// budgetOf finds a client that retried at first, and later let most calls fail at their first attempt.
func budgetOf(list []*Call, bound Attempts) *Budget {
	list = slices.DeleteFunc(slices.Clone(list), func(c *Call) bool { return !c.gaveUp() })
	if len(list) < budgetCalls || bound.Max < 2 {
		return nil
	}
	free := 0
	for _, c := range list {
		if c.tries() < bound.Max {
			break
		}
		free += c.tries() - 1
	}
	late := list[len(list)/2:]
	retries, none := 0, 0
	for _, c := range late {
		retries += c.tries() - 1
		if c.tries() == 1 {
			none++
		}
	}
	ratio := float64(retries) / float64(len(late))
	if free == 0 || 5*none < 3*len(late) || ratio > 0.5*float64(bound.Max-1) {
		return nil
	}
	return &Budget{round(ratio, 100), free, agreeing(none)}
}

// arrivalOf is the first request of a call.
type arrivalOf struct {
	at     time.Duration
	failed bool
}

// breakerOf finds pauses of about one length behind runs of failures, with few requests between them.
func breakerOf(list []*Call) *Breaker {
	var all []arrivalOf
	for _, c := range list { // retries have a pace of their own
		all = append(all, arrivalOf{c.Attempts[0].At, c.Attempts[0].Failed})
	}
	if len(list) < budgetCalls {
		return nil
	}
	usual := usualGap(all)
	var pauses []time.Duration
	run, first, probes, since := 0, 0, 0, 0
	for i, a := range all[:len(all)-1] {
		if !a.failed {
			run = 0
			continue
		}
		run++
		since++
		pause := all[i+1].at - a.at
		if pause < pauseFactor*usual || pause < time.Second || run < breakerRun && len(pauses) == 0 {
			continue
		}
		if len(pauses) == 0 {
			first = run
		} else {
			probes = max(probes, since)
		}
		pauses = append(pauses, pause)
		since = 0
	}
	if len(pauses) < breakerPauses || 2*probes > first+1 || float64(slices.Max(pauses)) > 1.5*float64(slices.Min(pauses)) {
		return nil
	}
	low, high := slices.Min(pauses).Seconds(), slices.Max(pauses).Seconds()
	return &Breaker{first, &Range{ms(roundBetween(low, low*0.97, high)), ms(low), ms(high)}, probes, agreeing(len(pauses))}
}

// usualGap is the time between requests while they flow: a quarter of them are shorter. The others may be pauses.
func usualGap(all []arrivalOf) time.Duration {
	gaps := make([]time.Duration, 0, len(all))
	for i := 1; i < len(all); i++ {
		gaps = append(gaps, all[i].at-all[i-1].at)
	}
	slices.Sort(gaps)
	if len(gaps) == 0 {
		return 0
	}
	return gaps[len(gaps)/4]
}
