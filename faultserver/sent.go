package faultserver

import (
	"encoding/hex"
	"hash/fnv"
	"strings"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// The functions below write down what a header says of a request, beside whose it is.

func keepRange(s *journal.Sent, value string) { s.Range = value }

func keepRequest(s *journal.Sent, value string) { s.Request = hashOf("", value) }

func keepEarlyData(s *journal.Sent, value string) { s.EarlyData = value == "1" }

func keepProxied(s *journal.Sent, _ string) { s.Proxied = true }

func keepHop(s *journal.Sent, value string) {
	_, s.Hop = number(0)(value)
	s.Proxied = true
}

// stamp takes part in what is renewed for each attempt, in whatever order the headers come.
func stamp(name string) func(*journal.Sent, string) {
	return func(s *journal.Sent, value string) { s.Stamp ^= hashOf(name, value) }
}

// keepTrace reads the trace-id of a traceparent header (W3C Trace Context): "00-32 hex digits-16 hex digits-2 hex digits",
// and more of it only in a later version. What is not valid says nothing.
func keepTrace(s *journal.Sent, value string) {
	const whole = len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if len(value) < whole || value[:2] == "00" && len(value) > whole || len(value) > whole && value[whole] != '-' {
		return
	}
	parts := strings.SplitN(value[:whole], "-", 4)
	if len(parts) != 4 || len(parts[0]) != 2 || len(parts[1]) != 32 || len(parts[2]) != 16 || parts[0] == "ff" {
		return
	}
	for _, part := range parts {
		if _, err := hex.DecodeString(part); err != nil || part != strings.ToLower(part) {
			return
		}
	}
	if parts[2] == strings.Repeat("0", 16) {
		return
	}
	_ = s.Trace.UnmarshalText([]byte(parts[1])) // its digits were checked; zero means none, as in the standard
}

// hashOf is never 0.
func hashOf(name, value string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name + "\x00" + value)) // a hash never fails
	return max(1, h.Sum64())
}
