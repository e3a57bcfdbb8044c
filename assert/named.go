package assert

import "github.com/retrygate/retrygate/faultserver/journal"

// An id that requests carry names their call, or something larger: an order that is charged, shipped and mailed, an event that
// many subscribers are told of. What goes to another route under one id is another attempt only where the one before failed.

// messageIDs are the headers that name a message, which a sender of webhooks delivers to each subscriber in a call of its own.
var messageIDs = map[string]bool{"Webhook-Id": true, "Svix-Id": true, "X-Shopify-Webhook-Id": true}

// placeNamed places a request that carries the id k.
func (g *grouper) placeNamed(k exactKey, i int32) {
	e := &g.entries[i]
	c, ok := g.exact[k]
	other := ok && g.elsewhere(c, e)
	if other {
		first := c
		k.method, k.path = e.Method, e.Path
		if c, ok = g.exact[k]; !ok && g.fallsBack(first, e) {
			c, ok = first, true
		}
	}
	if !ok {
		c, ok = g.follow(i)
	}
	if ok {
		g.extend(c, i)
	} else {
		c = g.open(k.rule, i)
		g.chains[c].routed = other
	}
	g.exact[k] = c
}

// elsewhere reports whether e goes to another route than the first request of chain c.
func (g *grouper) elsewhere(c int32, e *journal.Entry) bool {
	first := &g.entries[g.chains[c].named]
	return first.Path != e.Path || first.Method != e.Method
}

// fallsBack reports whether e goes on with chain c at another route, because the last attempt of the chain failed.
func (g *grouper) fallsBack(c int32, e *journal.Entry) bool {
	last := &g.entries[g.chains[c].last]
	return failed(last) && endOf(last) <= e.At+overlap && (e.Rare == nil || !messageIDs[e.Rare.CallBy])
}
