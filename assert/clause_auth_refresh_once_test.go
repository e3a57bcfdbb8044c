package assert_test

import (
	"strconv"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestAuthRefreshOnce(t *testing.T) {
	get := history.New
	const kept = "no 401 was answered more than once, nor with the same credentials"
	// workers all meet the 401 with one token, refresh so many times, and go on with what they got last.
	workers := func(n, refreshes int) *history.Builder {
		h := get().Auth(1)
		for i := range n {
			h.Request("GET", "/orders/"+strconv.Itoa(i)).Attempt(0, ms, 401)
		}
		h.Request("POST", "/token").Auth(0)
		for i := range refreshes {
			h.Attempt(10*ms+ns(i)*ms, ms, 200)
		}
		h.Auth(2)
		for i := range n {
			h.Request("GET", "/orders/"+strconv.Itoa(i)).Attempt(100*ms, ms, 200)
		}
		return h
	}
	refresh := func(status int, ats ...ns) *history.Builder {
		h := get().Auth(1).Request("GET", "/orders").Attempt(0, ms, 401).Request("POST", "/token").Auth(0)
		for _, at := range ats {
			h.Attempt(at, ms, status)
		}
		return h
	}
	check(t, assert.AuthRefreshOnce{}, []row{
		{name: "gives up", history: get().Attempt(0, ms, 401), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "once, renewed", history: get().Auth(1).Attempt(0, ms, 401).Auth(2).Attempt(s, ms, 200), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "once, renewed, and then a retry of its own", history: get().Auth(1).Attempt(0, ms, 401).Auth(2).Retries(s, 503, s), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "the same again", history: get().Auth(1).Retries(0, 401, s), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 came 1 s after a 401 with the same credentials; the contract says only with others"},
		{name: "for ever", history: refreshing(50), want: assert.Fail, witness: []uint64{2, 3},
			detail: "attempt 3 came 199 ms after a 401; the contract says once at most, with renewed credentials, and this was the second time"},
		{name: "403 with the same credentials", history: get().Auth(1).Retries(0, 403, s), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 came 1 s after a 403 with the same credentials; the contract says only with others"},
		{name: "403 with other credentials", history: get().Auth(1).Attempt(0, ms, 403).Auth(2).Attempt(s, ms, 200), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "twenty calls share a refresh", history: workers(20, 1), want: assert.Pass, detail: kept + " (20 calls)"},
		{name: "a refresh for each call", history: workers(3, 3), want: assert.Fail, witness: []uint64{3, 4, 5},
			detail: "a refreshed 2 times within 2 s, after 1 credential had met a 401; the contract says that calls share a refresh (1 of 4 calls)"},
		{name: "the refresh is refused, and repeated", history: refresh(401, 10*ms, 20*ms, 30*ms), want: assert.Fail, witness: []uint64{1, 2, 3},
			detail: "a refreshed 2 times within 2 s, after 1 credential had met a 401; the contract says that calls share a refresh (1 of 2 calls)"},
		{name: "the refresh fails in passing, and is repeated", history: refresh(503, 10*ms, 500*ms, 1500*ms), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "a refresh ahead of time, later", history: refresh(200, 10*ms, 5*s), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "another endpoint", clause: assert.AuthRefreshOnce{Refresh: "/login"}, history: refresh(200, 10*ms, 20*ms), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "a time to share that is shorter than clocks can tell", clause: assert.AuthRefreshOnce{Within: ms}, history: refresh(200, 10*ms, 20*ms),
			want: assert.Pass, detail: kept + " (1 call)"},
		{name: "another token for each refresh", history: rotating(3, 4), want: assert.Fail, witness: []uint64{3, 6, 7},
			detail: "a refreshed 4 times within 2 s, after 3 credentials had met a 401; the contract says that calls share a refresh (1 of 4 calls)"},
		{name: "as many refreshes as tokens", history: rotating(3, 3), want: assert.Pass, detail: kept + " (3 calls)"},
		{name: "tokens fetched twice, no 401", history: get().Request("POST", "/token").Retries(0, 200, 0), want: assert.NotExercised, detail: "no call was answered 401, 403 or 407"},
		{name: "may go on", history: get().Attempt(0, ms, 401), run: &assert.Run{Until: s}, want: assert.Inconclusive,
			detail: kept + ", but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}

// rotating is a client that meets a 401 with each of its tokens, and then refreshes so many times.
func rotating(tokens, refreshes int) *history.Builder {
	h := history.New()
	for i := range tokens {
		h.Auth(uint64(i+1)).Request("GET", "/orders/"+strconv.Itoa(i)).Attempt(ns(i)*10*ms, ms, 401)
	}
	h.Auth(0).Request("POST", "/token")
	for i := range refreshes {
		h.Attempt(100*ms+ns(i)*10*ms, ms, 200)
	}
	return h
}
