package infer

// layers are two policies around each other: a few short waits, a long one, the same short ones again, as where a library
// retries within a job that is retried.
var layers = register(Family{Name: "layers", Summary: "one policy within another: short waits, a long one, the short ones again"})

func init() { layers.fits = layered }

const (
	mostPeriod  = 10 // attempts of the inner policy
	layersApart = 4  // times longer than the longest of the short waits the long ones are
)

func layered(s *sample) (fits []fit) {
	n := s.retries()
	for period := 2; period <= mostPeriod && 2*period-1 <= n; period++ {
		if !s.twoScales(period) {
			continue
		}
		inside := s.only(func(retry int) (int, bool) { return retry % period, (retry+1)%period != 0 })
		outside := s.only(func(retry int) (int, bool) { return retry / period, (retry+1)%period == 0 })
		in, out := best(inside, simple), best(outside, simple)
		if in == nil || out == nil {
			continue
		}
		fits = append(fits, fit{
			family: layers, period: period, inner: in, outer: out, kind: out.kind, low: out.low, top: out.top,
			lnL: in.lnL + out.lnL, params: in.params + out.params + 1,
		})
	}
	return fits
}

// twoScales reports whether every wait that is the last of its period is long beside all others.
func (s *sample) twoScales(period int) bool {
	longest, shortest := 0.0, s.longest()
	for k, m := range s.middle {
		if (k+1)%period == 0 {
			shortest = min(shortest, m)
		} else {
			longest = max(longest, m)
		}
	}
	return shortest > layersApart*longest && shortest > immediately.Seconds()
}
