package fault

import (
	"math/rand/v2"
	"net/http"
	"time"
)

type fixedDraws struct {
	http.ResponseWriter
	random *rand.Rand
}

func (f fixedDraws) Draw() *rand.Rand { return f.random }

// DelayOf draws one delay.
func DelayOf(l *Latency, random *rand.Rand) time.Duration { return l.delay(fixedDraws{nil, random}) }
