package selftest

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// Package assert knows kinds of faults by name, since it imports no server: a kind that is renamed must not slip out.
func TestFaultsThatNetworkClassesNameExist(t *testing.T) {
	for _, name := range assert.FaultsByClass() {
		if _, err := fault.Kinds.Get(name); err != nil {
			t.Error(err)
		}
	}
}
