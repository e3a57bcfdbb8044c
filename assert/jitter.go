package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Form is a shape of jitter.
type Form uint8

// The forms. d is the delay that backoff gives without jitter.
const (
	JitterUnspecified  Form = iota // nothing is promised, not even that there is any
	JitterAny                      // some form, whichever
	JitterNone                     // d
	JitterFull                     // from 0 to d
	JitterEqual                    // from d/2 to d
	JitterProportional             // from d(1-x) to d(1+x)
	JitterDecorrelated             // from the initial backoff to three times the wait before
	JitterAdditive                 // from d to d plus a constant
)

var formNames = [...]string{"unspecified", "any", "none", "full", "equal", "proportional", "decorrelated", "additive"}

// String gives the word that contract files use.
func (f Form) String() string { return formNames[f] }

// UnmarshalText reads the word that contract files use.
func (f *Form) UnmarshalText(text []byte) error {
	for i, name := range formNames {
		if name == string(text) {
			*f = Form(i)
			return nil
		}
	}
	return fmt.Errorf("unknown jitter %q%s", text, registry.Suggest(string(text), formNames[:]))
}

// Jitter is how a client randomises its waits. Written as a word, or as {proportional: 0.5} or {additive: 100ms}.
type Jitter struct {
	Form       Form
	Proportion float64       // of JitterProportional, 0 to 1
	Add        time.Duration // of JitterAdditive
}

// Required reports whether waits have to differ.
func (j Jitter) Required() bool { return j.Form != JitterUnspecified && j.Form != JitterNone }

// Floor is the shortest wait that the form allows where backoff alone gives delay. Where full jitter is allowed it is 0.
// For decorrelated jitter pass the initial backoff.
func (j Jitter) Floor(delay time.Duration) time.Duration {
	switch j.Form {
	case JitterNone, JitterDecorrelated, JitterAdditive:
		return delay
	case JitterEqual:
		return delay / 2
	case JitterProportional:
		return time.Duration(float64(delay) * (1 - j.Proportion))
	default:
		return 0
	}
}

// Mean is the mean wait where backoff alone gives delay; where the form is open, the smallest mean that a form allows.
// For decorrelated jitter pass the initial backoff: the first wait's mean comes back.
func (j Jitter) Mean(delay time.Duration) time.Duration {
	switch j.Form {
	case JitterNone, JitterProportional:
		return delay
	case JitterEqual:
		return delay / 4 * 3
	case JitterDecorrelated:
		return 2 * delay
	case JitterAdditive:
		return delay + j.Add/2
	default:
		return delay / 2
	}
}

// Ceiling is the longest wait that the form allows where backoff alone gives delay. Open forms count as proportional
// with a half, the widest in common use.
func (j Jitter) Ceiling(delay time.Duration) time.Duration {
	switch j.Form {
	case JitterNone, JitterFull, JitterEqual:
		return delay
	case JitterProportional:
		return time.Duration(float64(delay) * (1 + j.Proportion))
	case JitterDecorrelated:
		return 3 * delay
	case JitterAdditive:
		return delay + j.Add
	default:
		return delay + delay/2
	}
}

// width is how far apart the form draws waits around a median, where backoff alone gives delay (0: not agreed); 0 where
// the form is open. A client may wait shorter than agreed, so that the narrower of both counts.
func (j Jitter) width(median, delay time.Duration) time.Duration {
	seen := func(share float64) time.Duration { return time.Duration(share * float64(median)) }
	var width time.Duration
	switch j.Form {
	case JitterFull:
		width = seen(2)
	case JitterEqual:
		width = seen(2.0 / 3)
	case JitterProportional:
		width = seen(2 * j.Proportion)
	case JitterAdditive:
		return j.Add
	case JitterDecorrelated: // the first wait's; later ones lie further apart
		width, delay = seen(1), 0
	default:
		return 0
	}
	if delay > 0 {
		width = min(width, j.Ceiling(delay)-j.Floor(delay))
	}
	return width
}

// String writes the jitter as contract files do.
func (j Jitter) String() string {
	switch j.Form {
	case JitterProportional:
		return fmt.Sprintf("proportional %v", j.Proportion)
	case JitterAdditive:
		return fmt.Sprintf("additive %v", j.Add)
	default:
		return j.Form.String()
	}
}
