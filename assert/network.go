package assert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// NetworkClass is a way in which an attempt ends without a usable answer.
type NetworkClass uint8

// The classes, as far as a history tells them apart. A name that does not resolve leaves no trace at a server; it counts as
// refused where a contract is read.
const (
	NetworkRefused     NetworkClass = iota // turned away before anything was sent
	NetworkCertificate                     // no agreement on TLS: a certificate that is not trusted, say
	NetworkUnprocessed                     // the server says that it did not begin: REFUSED_STREAM, or behind the last stream of a GOAWAY
	NetworkReset                           // reset or closed before a status line
	NetworkTimeout                         // the client left before the answer was over
	NetworkTruncated                       // broken off behind the status line
	NetworkMalformed                       // bytes that are no answer
	networkClasses
)

// networkFact is what is known about a class whatever a contract says.
type networkFact struct {
	key, name string
	processed bool // the server may have acted on the request
	why       string
	source    string
}

var networkFacts = [networkClasses]networkFact{
	NetworkRefused: {"refused", "connection refused, connect timeout, name not found for now", false,
		"nothing was sent, so that any method may be sent again; many clients reconnect at once, so jitter counts most here", "RFC 9110 9.2.2; gRPC A6"},
	NetworkCertificate: {"certificate", "TLS or certificate refused", false,
		"it will be refused again; someone has to act", "go-retryablehttp, which leaves TLS errors out"},
	NetworkUnprocessed: {"unprocessed", "REFUSED_STREAM or GOAWAY before the request", false,
		"the server says that it did not begin, so that any method may be sent again", "RFC 9113 8.7; gRPC A6"},
	NetworkReset: {"reset", "reset or closed before an answer", true,
		"nobody knows whether it was processed", "RFC 9110 9.2.2"},
	NetworkTimeout: {"timeout", "no answer in time", true,
		"it may still be processed", "RFC 9110 9.2.2"},
	NetworkTruncated: {"truncated", "answer cut short", true,
		"it was processed; what is missing of the answer is lost", "RFC 9112 8"},
	NetworkMalformed: {"malformed", "answer that is not HTTP", true,
		"something in between is broken or is no HTTP server", "RFC 9112 2.2"},
}

// String gives the word that contract files use.
func (c NetworkClass) String() string { return networkFacts[c].key }

// networkByFault tells the class by the kind of fault where an entry itself does not show it.
var networkByFault = map[string]NetworkClass{"garbage": NetworkMalformed}

// earlyByFault is the same for connections that ended before a request was read.
var earlyByFault = map[string]NetworkClass{"refused": NetworkRefused}

// ClassOf tells how the attempt failed on the network; ok is false if it did not.
func ClassOf(e journal.Entry) (class NetworkClass, ok bool) {
	if !networkFailure(&e) {
		return 0, false
	}
	return classOf(&e), true
}

// classOf is ClassOf for what is known to be a network failure.
func classOf(e *journal.Entry) NetworkClass {
	byFault := networkByFault
	if unread(e) {
		byFault = earlyByFault
	}
	for name := range strings.SplitSeq(e.Fault, "+") {
		if class, ok := byFault[name]; ok {
			return class
		}
	}
	switch {
	case e.Distrusted():
		return NetworkCertificate
	case e.Unprocessed:
		return NetworkUnprocessed
	case e.Gone > 0:
		return NetworkTimeout
	case e.Status != 0:
		return NetworkTruncated
	default:
		return NetworkReset
	}
}

// networkKeys are the words for network failures in a contract: all of them, then one by one.
func networkKeys() []string {
	keys := []string{"network"}
	for _, f := range networkFacts {
		keys = append(keys, f.key)
	}
	return keys
}

// networkWord reads network or the name of a class.
func networkWord(word string) (from, to NetworkClass, ok bool) {
	if word == "network" {
		return 0, networkClasses - 1, true
	}
	for c, f := range networkFacts {
		if f.key == word {
			return NetworkClass(c), NetworkClass(c), true
		}
	}
	return 0, 0, false
}

// networkLabel names classes as files do.
func networkLabel(from, to NetworkClass) string {
	if from != to {
		return "network"
	}
	return fmt.Sprint(from)
}

// FaultsByClass lists the kinds of faults that decide the class of a network failure by themselves.
func FaultsByClass() []string {
	return slices.Concat(slices.Sorted(maps.Keys(networkByFault)), slices.Sorted(maps.Keys(earlyByFault)))
}
