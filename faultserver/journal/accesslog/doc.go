// Package accesslog reads the access logs of web servers and proxies as a history: one entry a request, in order of
// arrival, one line at a time.
//
// A log knows less than a journal. Most formats name no body, no idempotency key and no credentials, and many stamp whole
// seconds. What a log does not say is marked in its entries so that no clause takes it for a fact: a body that nobody saw
// counts as unread, and unknown credentials are never equal.
//
//	reader, err := accesslog.Open([]accesslog.Input{accesslog.File("access.log.gz")}, accesslog.Options{})
//	for entry, err := range reader.All() { ... }
//	reader.Summary() // lines, what was malformed, how exact the timestamps are
package accesslog
