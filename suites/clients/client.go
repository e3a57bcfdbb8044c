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
	Breaks        []string // the clauses of the strict contract that it must fail; empty for a polite client
	HTTP2         bool     // h speaks HTTP/2 alone, without TLS; else HTTP/1.1
	Call          func(ctx context.Context, h *http.Client, url string) error
}

// All holds every reference client.
var All = registry.New[Client]("reference client")

func register(c Client) { All.Add(c.Name, c) }
