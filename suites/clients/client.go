// Package clients holds the reference clients: polite ones that keep the strict contract and broken ones with one defect
// each, one client a file. They prove that every clause can pass and can fail.
package clients

import (
	"context"
	"net/http"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Client is one reference client. Call makes one call to url over h, with all its attempts.
type Client struct {
	Name, Summary string
	Breaks        []string // the clauses of its contract that it must fail; empty for a polite client
	HTTP2         bool     // h speaks HTTP/2 alone; else what server and client agree on
	Call          func(ctx context.Context, h *http.Client, url string) error

	// Start, in place of Call, makes a client that remembers something from call to call.
	Start func() func(ctx context.Context, h *http.Client, url string) error
	// Contract is what the client is judged by, as a contract file; "" is the strict profile.
	Contract string
}

// New makes one client with a memory of its own. What it returns makes one call.
func (c Client) New() func(ctx context.Context, h *http.Client, url string) error {
	call, quiet := c.Call, new(gate)
	if c.Start != nil {
		call = c.Start()
	}
	return func(ctx context.Context, h *http.Client, url string) error {
		return call(context.WithValue(ctx, gateKey{}, quiet), h, url)
	}
}

// All holds every reference client.
var All = registry.New[Client]("reference client")

func register(c Client) { All.Add(c.Name, c) }
