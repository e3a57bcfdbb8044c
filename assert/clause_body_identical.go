package assert

import (
	"fmt"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "body-identical", Level: Critical,
		Summary: "Every attempt of a call carries the same complete body, byte for byte.",
		Measure: "Hash and length of the body of each attempt that repeats a failed one, against the last that arrived whole. An upload that the " +
			"fault or the client itself cut short is not compared, nor a request that was changed because of a 4xx.",
		Why: "A body that was read once and not rewound goes out empty or short with the retry. The server stores it, answers 200, and the " +
			"data is lost without an error anywhere.",
		Fix: "Keep the body in memory, or rewind the stream before each attempt (GetBody in Go, a seekable stream elsewhere), or do not retry. " +
			"Build the request once, outside the retry loop: no timestamps or random boundaries per attempt.",
		Source: "Azure SDK guideline (must rewind); databricks-sdk-java PR 872 (files of 0 bytes after a retry), aiohttp PR 13330, undici " +
			"issue 470 (read in 2026)",
		Samples: Samples{Calls: 5, Each: 5},
		New:     func(*Contract) Clause { return &BodyIdentical{} },
	})
}

// BodyIdentical promises that retries lose no data.
type BodyIdentical struct{}

// ID names the clause.
func (p BodyIdentical) ID() string { return "body-identical" }

// Check compares the bodies of the attempts of each call.
func (p BodyIdentical) Check(calls []Call) Result {
	t := tally{id: p.ID()}
	for i := range calls {
		c := &calls[i]
		first, other, compared := bodies(c)
		switch {
		case other > 0:
			lost := c.Attempts[first].BodyLen - c.Attempts[other].BodyLen
			t.breach(c, float64(lost), func() (string, []journal.Entry) {
				return bodyText(c, first, other), []journal.Entry{c.Attempts[first], c.Attempts[other]}
			})
		case compared:
			t.keep(true)
		}
	}
	return t.result("every retry carried the body of the first attempt", "no request with a body was repeated", "")
}

// bodies finds the first retry whose body differs from that of an attempt before it; other is 0 if none does.
func bodies(c *Call) (first, other int, compared bool) {
	first = -1
	for i := range c.Attempts {
		e := &c.Attempts[i]
		if i > 0 && (!repeats(&c.Attempts[i-1]) || partOf(&c.Attempts[i-1]) != partOf(e)) {
			first = -1 // what follows is another request
		}
		switch {
		case first < 0:
			if e.BodyWhole {
				first = i
			}
			continue
		case !e.BodyWhole && !emptyHanded(e):
			continue
		case e.BodyLen > 0 || c.Attempts[first].BodyLen > 0:
			compared = true
		}
		if e.BodySum != c.Attempts[first].BodySum || e.BodyLen != c.Attempts[first].BodyLen {
			return first, i, true
		}
	}
	return first, 0, compared
}

// emptyHanded reports whether a request promised a body and brought none of it, for which nobody but the client can be
// the reason: not a fault that acted before the body was read.
func emptyHanded(e *journal.Entry) bool {
	return !e.BodyWhole && !e.Open && !e.Early && !e.Refused() && (e.Delivered() || e.BodyLen == 0 && e.Fault == "")
}

func bodyText(c *Call, first, other int) string {
	a, b := &c.Attempts[first], &c.Attempts[other]
	if a.BodyLen == b.BodyLen {
		return fmt.Sprintf("attempt %d carried another body than attempt %d (both %d bytes); the contract says the same body every time",
			other+1, first+1, a.BodyLen)
	}
	return fmt.Sprintf("attempt %d carried %d bytes where attempt %d carried %d; the contract says the same body every time",
		other+1, b.BodyLen, first+1, a.BodyLen)
}
