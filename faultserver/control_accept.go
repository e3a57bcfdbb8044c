package faultserver

import (
	"mime"
	"strconv"
	"strings"
)

// negotiate picks the offer that an Accept header likes best, the first of equals; "" if it takes none.
func negotiate(accept string, offers []string) (best string) {
	if strings.TrimSpace(accept) == "" {
		return offers[0]
	}
	liking := 0.0
	for _, offer := range offers {
		if q := likes(accept, offer); q > liking {
			best, liking = offer, q
		}
	}
	return best
}

// likes gives the weight of a media type: that of the range that names it most closely.
func likes(accept, offer string) (q float64) {
	family, _, _ := strings.Cut(offer, "/")
	closest := 0
	for element := range strings.SplitSeq(accept, ",") {
		media, parameters, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		closeness := map[string]int{offer: 3, family + "/*": 2, "*/*": 1}[media]
		if closeness <= closest {
			continue
		}
		closest, q = closeness, 1
		if weight, err := strconv.ParseFloat(parameters["q"], 64); err == nil {
			q = weight
		}
	}
	return q
}
