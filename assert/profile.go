package assert

import (
	"sync"
	"time"
)

// Strict is the default contract: what RFC 9110 and the better client libraries agree on. Each call returns a new copy.
func Strict() *Contract {
	c := *strict()
	c.Responses = c.Responses.Clone()
	return &c
}

var strict = sync.OnceValue(func() *Contract {
	t := &Responses{network: Response{Retry: Backoff}}
	backoff := Response{Retry: Backoff}
	t.Set(400, 499, Response{Retry: Never})
	t.Set(500, 599, backoff)
	for status, r := range map[int]Response{
		401: {Retry: OnceAfterRefresh}, 407: {Retry: OnceAfterRefresh}, 408: backoff, 409: {Retry: WithRetryAfterOrKey},
		413: {Retry: WithRetryAfter}, 421: {Retry: Once}, 423: {Retry: WithRetryAfter}, 425: {Retry: Once},
		429: {Backoff, true}, 503: {Backoff, true}, 509: {Retry: WithRetryAfter}, 525: {Retry: Once},
		501: {Retry: Never}, 505: {Retry: Never}, 506: {Retry: Never}, 507: {Retry: Never}, 508: {Retry: Never},
		510: {Retry: Never}, 511: {Retry: Never}, 526: {Retry: Never},
	} {
		t.Set(status, status, r)
	}
	return &Contract{
		Name: "strict", Profile: "strict", Responses: t,
		Attempts:   Attempts{Max: 4, Within: 30 * time.Second},
		Backoff:    Delays{Growth: 1.3, Max: time.Minute, Jitter: Jitter{Form: JitterAny}},
		RetryAfter: RetryAfter{Max: 2 * time.Minute, Longer: EitherWay},
		Limits:     Limits{ClientRate: []Rate{{100, time.Minute}, {20, 10 * time.Second}}},
	}
})
