package fault

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// What a refusal says: how many requests were sent, in which time, how many more were refused, and the seconds to wait.
const (
	adviceClient = "This client sent %[1]s within %[2]s, which is its limit, and %[3]d more that the server refused. " +
		"Wait %[4]d s before the next one; what comes sooner is refused too, but does not make the wait longer."
	adviceIdentical = "This client sent %[1]s with one and the same payload within %[2]s, which is the limit, and %[3]d more that the server " +
		"refused: something in it goes round in a loop. Do not send the payload again unchanged; if it has to be, wait %[4]d s."
	adviceCeiling = "All clients together sent %[1]s within %[2]s, which is all that this server takes. " +
		"This client is within its own limits; wait %[4]d s."
)

// Problem types of draft-ietf-httpapi-ratelimit-headers-11, section 5.
const (
	quotaExceeded = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	abnormalUsage = "https://iana.org/assignments/http-problem-types#abnormal-usage-detected"
)

// refusal collects the limits that a request is over.
type refusal struct {
	violated []string
	worst    bound // the one to tell about
	until    time.Duration
}

// add takes another limit in. Identical payloads come first and stay the worst: that is a defect, the others may be haste.
func (r *refusal) add(b bound, opens time.Duration) {
	if r.violated == nil || opens > r.until && r.worst.advice != adviceIdentical {
		r.worst = b
	}
	r.violated = append(r.violated, b.name)
	r.until = max(r.until, opens)
}

// fault is the answer, with a wait in whole seconds that ends when the limits let the next request through, or after.
func (r *refusal) fault(now time.Duration) Fault {
	wait, b := r.until-now, r.worst
	sent := fmt.Sprintf("%d requests", b.rate.N)
	if b.rate.N == 1 {
		sent = "1 request"
	}
	p := Problem{
		Type: quotaExceeded, Title: "Quota Exceeded", Violated: r.violated,
		Detail: fmt.Sprintf(b.advice, sent, strict.FormatDuration(b.rate.Per), b.recent.refused, seconds(wait)),
	}
	if b.advice == adviceIdentical {
		p.Type, p.Title = abnormalUsage, "Abnormal Usage Detected"
	}
	return &Status{Code: http.StatusTooManyRequests, RetryAfter: Seconds(wait), Problem: &p}
}

// advertise tells the client how it stands (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4). The ceiling is
// left out: what others send is none of its business.
func advertise(header http.Header, bounds []bound, now time.Duration) {
	var policies, standings []string
	for _, b := range bounds {
		policy := fmt.Sprintf("%q;q=%d", b.name, b.rate.N)
		if b.rate.Per%time.Second == 0 { // else there is no way to write it
			policy += fmt.Sprintf(";w=%d", b.rate.Per/time.Second)
		}
		used, leaves := b.recent.within(b.rate, now)
		standing := fmt.Sprintf("%q;r=%d", b.name, b.rate.N-used)
		if used > 0 {
			standing += fmt.Sprintf(";t=%d", seconds(leaves-now))
		}
		policies, standings = append(policies, policy), append(standings, standing)
	}
	if len(bounds) > 0 {
		header.Set("RateLimit-Policy", strings.Join(policies, ", "))
		header.Set("RateLimit", strings.Join(standings, ", "))
	}
}
