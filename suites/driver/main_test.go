package driver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// Harness is part of the names of the memory through which commands of this process are told the time.
var Harness = harness

// asHarness turns the test binary into a harness that runs a command until it is killed.
const asHarness = "DRIVER_TEST_HARNESS"

func TestMain(m *testing.M) {
	if script := os.Getenv(asHarness); script != "" {
		fmt.Println(markerName+harness+".", brands)
		runClient(context.Background(), Command("sh", "-c", script), target)
		return
	}
	goleak.VerifyTestMain(m)
}

func TestKilledHarnessLeavesNothingBehind(t *testing.T) {
	need(t, "sh", "sleep", "setsid", "grep")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asHarness+"=trap '' TERM; sleep 600 & (trap '' TERM HUP; sleep 600; true) & setsid sleep 600 & env -i setsid sleep 600 & wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	prefix, brands, _ := strings.Cut(strings.TrimSpace(line), " ")
	t.Cleanup(func() { // a failing test must not leave behind what it looks for
		for _, c := range carriers(t, prefix, brands) {
			var pid int
			if _, err := fmt.Sscanf(c, "/proc/%d/", &pid); err == nil {
				signalProcess(pid, syscall.SIGKILL)
			}
		}
	})
	eventually(t, "the client and its children run", func() bool { return len(carriers(t, prefix, brands)) >= 6 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
	eventually(t, "nothing of the client is left", func() bool { return len(carriers(t, prefix, brands)) == 0 })
}
