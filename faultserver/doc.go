// Package faultserver is an HTTP server that misbehaves on purpose and writes down what clients do about it.
//
// A Plan says which requests meet with which fault, and when; a backend answers all others, either a Stub or the API
// that the server stands in front of. This is the way of one request (Server.ServeHTTP):
//
//  1. Its arrival is journalled, before the body is read and before anything delays it: a verifier has to see requests
//     that are still going on. Who sent it, and which call it belongs to, is told by listener and headers.
//  2. The plan's router finds the first rule that the request meets and that is on: match, hits and schedule, chance.
//     What is decided by chance depends on the seed and the request's sequence number only, or on the client and its hit
//     where a rule counts per client.
//  3. The body is read and hashed, all of it for the stub, up to 1 MiB before an upstream is asked; the rest is hashed as
//     it streams. Reading it early is also what lets net/http notice that the client left. A fault that acts before the
//     body was read finds it untouched; a rule that tells calls apart by their bodies reads it before step 2.
//  4. The rule's fault acts; without one, the backend answers. Both write through a recorder, which journals the status
//     before its bytes go out.
//  5. The entry is closed, once, whatever happened: also when the fault broke the connection, panicked, or the client
//     left. For answers that fit net/http's buffer (2 KiB) this is before the client has the answer, so whoever got one
//     finds its entry closed.
//
// Faults that act on connections come before that: a rule with one meets each new connection when it is accepted
// (Server.greet), and each request on a connection that was kept alive.
//
// TLS (WithTLS) ends in the server's own listener, with the handshake in the connection's own goroutine; net/http gets what
// was in it, so that all of this is the same over TLS as in the clear.
//
// What never comes to a handler is journalled too, as entries without a Proto: connections that a fault ended before a
// request was read, TLS handshakes that failed, requests that net/http refuses by itself, heads that break off, and
// connections over which nothing came (journal.Entry has Handshake, Refused and Unused).
//
// On HTTP/2, net/http can neither say which stream a request came on nor send what some faults promise, so the layer below
// it (frames) puts the stream's number into each request's headers, changes the resets of streams that a fault marked, and
// sends GOAWAY. Requests that come behind a GOAWAY meet the fault that sent it.
//
// Start a Server with New, give it a Plan with Use, let it Listen, and Close it. A Control lets other programs do the same
// over HTTP.
package faultserver
