package report

import (
	"fmt"
	"strings"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/infer"
)

// Policy is the retry policy that shows in all calls of a run together. It is shown, and judges nothing.
type Policy struct {
	Sentence string `json:"sentence"`
	infer.Policy
}

// PolicyOf infers the policy behind calls; nil where none was retried and none failed, so that nothing shows.
func PolicyOf(calls []assert.Call) *Policy {
	p := assert.Inferred(calls)
	if p.Retried == 0 && p.Attempts.Ended == 0 {
		return nil
	}
	return &Policy{p.Sentence(), p}
}

// policy shows the inferred policy and what it leaves open.
func (p *page) policy(found *Policy) {
	if found == nil {
		return
	}
	p.section(p.Bold("policy seen (of all calls together; it judges nothing)"))
	p.para(indent, "the client "+found.Sentence)
	for _, open := range found.Open() {
		p.para(indent+"- open: ", open)
	}
}

func mdPolicy(b *strings.Builder, found *Policy) {
	if found != nil {
		fmt.Fprintf(b, "Policy seen: the client %s.\n\n", escape(found.Sentence))
	}
}
