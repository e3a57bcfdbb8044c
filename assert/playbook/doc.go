// Package playbook finds the clients behind a storm in a history of any size, as those who were in one did it: requests by
// client on one endpoint, each client's rate beside the usual one, the share of each status, payloads that are all alike,
// how far repeats lie apart, when it began.
//
// It reads entry by entry and keeps counts for each client and endpoint, never the lines. A client is accused only of what
// its own requests show: failed requests that come again where the contract says that they must not, and more of them
// than its own usual pace explains, unless requests can be told apart. So a busy client whose requests succeed, one that
// polls through an outage, and many users behind one address are not accused.
package playbook
