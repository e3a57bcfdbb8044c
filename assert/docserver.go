package assert

import (
	"fmt"
	"strings"
)

// docServer writes what the contract asks of those who run the servers: clients can only keep to answers that mean what
// they say.
func (c *Contract) docServer(b *strings.Builder) {
	b.WriteString("## What the server team does\n\n- Answers 4xx only when the request itself is wrong, and 429 or 503 when it may come again.\n")
	if c.Responses.Status(429).Honour || c.Responses.Status(503).Honour {
		b.WriteString("- Sends `Retry-After` with 429 and 503 in whole seconds, rounded up")
		if c.RetryAfter.Max > 0 {
			fmt.Fprintf(b, ", and no more than %s: clients do not sit out more", spoken(c.RetryAfter.Max))
		}
		b.WriteString(".\n")
	}
	if c.Idempotency.KeyHeader != "" {
		fmt.Fprintf(b, "- Keeps the result of each `%s` and gives it again when the same key comes back", c.Idempotency.KeyHeader)
		if c.Attempts.Within > 0 {
			fmt.Fprintf(b, ", for %s at least", spoken(c.Attempts.Within))
		}
		b.WriteString("; answers 409 while the first is going on.\n")
	}
	for _, route := range c.Idempotency.SafeRoutes {
		fmt.Fprintf(b, "- Makes sure that `%s` sent twice does no more than sent once.\n", route)
	}
	if c.Limits.Amplification > 0 {
		fmt.Fprintf(b, "- Has room, or sheds load early, for up to %v times the normal requests while it fails.\n", c.Limits.Amplification)
	}
	b.WriteString("- Tells the client team before a status comes to mean something else.\n\n")
}
