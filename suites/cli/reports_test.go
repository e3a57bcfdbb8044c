package cli

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
)

// Nobody reads the pipe, so that opening it would wait for ever.
func TestReportIntoAPipeIsInterruptible(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip(err)
	}
	var d destinations
	if err := d.Set("json=" + pipe); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.open(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
