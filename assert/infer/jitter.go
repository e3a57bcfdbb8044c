package infer

// JitterKind is how waits are drawn around their curve. d is what the curve gives.
type JitterKind string

// The kinds. Only the ratio of the shortest to the longest wait shows, so that equal jitter is also proportional jitter of a
// third around another middle.
const (
	JitterNone         JitterKind = "none"
	JitterFull         JitterKind = "full"         // from 0 to d
	JitterEqual        JitterKind = "equal"        // from d/2 to d
	JitterProportional JitterKind = "proportional" // from d(1-x) to d(1+x)
	JitterAdditive     JitterKind = "additive"     // from d to d plus a constant
	JitterDecorrelated JitterKind = "decorrelated" // from the first wait to three times the one before
)

// Ratios of the shortest to the longest wait at which one kind ends.
const (
	fullBelow = 0.18
	halfFrom  = 0.42
	halfTo    = 0.58
)

func half(low, top float64) bool { return low >= halfFrom*top && low < halfTo*top }

// class is the kind that a range of waits stands for.
func (f *fit) class() JitterKind { return classOf(f.kind, f.low, f.top) }

func classOf(kind JitterKind, low, top float64) JitterKind {
	switch {
	case kind != JitterProportional && kind != JitterFull:
		return kind
	case low < fullBelow*top:
		return JitterFull
	case half(low, top):
		return JitterEqual
	default:
		return JitterProportional
	}
}
