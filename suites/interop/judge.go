package interop

import (
	"context"
	"os/exec"
	"regexp"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// Examine runs a client through all cases and has the strict contract judge it in all scenarios that suit it; without
// whole, only the cases. driven makes the client for requests with a method. With memory it takes a bubble of virtual time.
func (c Client) Examine(ctx context.Context, driven func(method string) driver.Client, whole, memory bool) (Result, error) {
	r := Result{Language: c.Language, Client: c.ID, Version: c.version(ctx)}
	all, calls, err := Probe(ctx, driven, memory)
	if err != nil {
		return r, err
	}
	r.Seen = all
	r.Differences = c.Differ(r.Seen)
	r.Policy = assert.Inferred(calls).Sentence()
	if !whole || c.Unjudged != "" {
		return r, nil
	}
	judged, err := contract.Examine(ctx, contract.Request{Client: driven("GET"), Seed: 1, FailOn: assert.Major, Memory: memory})
	if err != nil {
		return r, err
	}
	r.Report = &judged
	r.Differences = append(r.Differences, c.Contract.Differences(judged, memory)...)
	return r, nil
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

// version is what is run: the pinned one, or what the program says of itself.
func (c Client) version(ctx context.Context) string {
	if len(c.VersionOf) == 0 {
		return c.Version
	}
	out, err := exec.CommandContext(ctx, c.VersionOf[0], c.VersionOf[1:]...).Output()
	if err != nil {
		return "unknown"
	}
	return number.FindString(string(out))
}
