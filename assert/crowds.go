package assert

// crowds counts the attempts at calls that looked the same while they went on, so that nobody knows which belongs to which: one
// that seems to have had too many may have got those of another.
type crowds map[endpoint]*crowd

type crowd struct{ calls, tries int }

// share is how many attempts each of the calls had on average that an ambiguous call may be mixed up with.
func (k *crowds) share(calls []Call, c *Call) float64 {
	if *k == nil {
		*k = crowds{}
		for i := range calls {
			if !calls[i].Ambiguous {
				continue
			}
			at := endpointOf(&calls[i].Attempts[0])
			if (*k)[at] == nil {
				(*k)[at] = &crowd{}
			}
			(*k)[at].calls++
			(*k)[at].tries += calls[i].Tries()
		}
	}
	all := (*k)[endpointOf(&c.Attempts[0])]
	return float64(all.tries) / float64(all.calls)
}
