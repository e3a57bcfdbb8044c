package assert_test

import (
	"github.com/retrygate/retrygate/assert/internal/history"
)

// companyCases are about requests next to which others go on: copies, subscribers, polls, workers.
func companyCases() []publicCase {
	get := history.New
	const copies = "hedging: {after: 200ms, share: 1}"
	return []publicCase{
		{source: "a request is answered 404 while its copy is under way", contract: copies, good: get().Attempt(0, 300*ms, 404).Left(200*ms, 101*ms),
			bad: get().Attempt(0, 300*ms, 404).Left(200*ms, 101*ms).Attempt(s, ms, 404), breaks: []string{"no-retry-4xx"}},
		{source: "both copies are answered 404", contract: copies, good: get().Attempt(0, 300*ms, 404).Attempt(200*ms, 110*ms, 404)},
		{source: "a copy meets 401, and the token is renewed once both are answered", contract: copies,
			good: get().Auth(1).Attempt(0, 300*ms, 401).Attempt(200*ms, 110*ms, 401).Auth(2).Attempt(320*ms, ms, 200)},
	}
}
