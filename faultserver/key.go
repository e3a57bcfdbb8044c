package faultserver

import "hash/maphash"

var keySeed = maphash.MakeSeed()

// key identifies what the request is counted under.
func (x *recorder) key(per Scope) uint64 {
	switch per {
	case PerClient:
		return maphash.String(keySeed, x.client)
	case PerCall:
		if x.callKey == 0 {
			x.callKey = x.hashCall()
		}
		return x.callKey
	}
	return 0
}

// hashCall takes the call's id where there is one. Clients on listeners of their own are told apart all the same: one
// command, started many times, may send one fixed id.
func (x *recorder) hashCall() uint64 {
	type byID struct{ listener, id string }
	type byContent struct {
		client, method, path, query string
		body                        uint64
	}
	if x.call != "" {
		return maphash.Comparable(keySeed, byID{x.listener, x.call})
	}
	x.readBody(x.request)
	u := x.request.URL
	return maphash.Comparable(keySeed, byContent{x.client, x.request.Method, u.EscapedPath(), u.RawQuery, x.bodySum})
}
