package faultserver_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind, nor a file.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(exit int) {
		_ = os.Remove(authorityFile())
		os.Exit(exit)
	}))
}
