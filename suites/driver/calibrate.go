package driver

import (
	"context"
	"net/http"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/scenarios"
)

// calibrating is how many clients are run to find the header that names calls.
const calibrating = 5

// Calibrate finds the request header that tells the calls of a client apart which asks for one thing more than once: the
// first two attempts at each call fail, so that what stays the same over the attempts of a call shows, and what changes
// between calls. "" if there is no such header, or if the client makes too few calls, or retries too little, to tell.
// Errors are those of Run.
func Calibrate(ctx context.Context, client Client, o Options) (header string, err error) {
	unavailable := fault.Of("status", &fault.Status{Code: http.StatusServiceUnavailable})
	o.Clients, o.Enough, o.blind, o.calibrate = calibrating, -1, true, true
	out, err := Run(ctx, scenarios.Scenario{Name: "calibration", Rules: []faultserver.Rule{
		{Name: "twice", Per: faultserver.PerCall, Steps: []fault.Spec{unavailable, unavailable}},
	}}, client, o)
	if err != nil {
		return "", err
	}
	return assert.CallHeader(assert.Calls(out.History.Entries, assert.Key{Run: &out.Run})), nil
}
