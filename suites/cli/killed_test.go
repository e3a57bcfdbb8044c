package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/suites/driver"
)

// running is retrygate as a process of its own, in a folder where it could leave things behind.
type running struct {
	*exec.Cmd
	dir    string // its working folder
	tmp    string // its folder for temporary files
	output *bufio.Reader
}

func run(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{Cmd: exec.Command("retrygate", args...), dir: t.TempDir(), tmp: t.TempDir()} // testscript.Main puts it on the PATH
	// A program built with the race detector sleeps for a second before it ends, unless told not to.
	r.Dir, r.Env = r.dir, append(os.Environ(), "TMPDIR="+r.tmp, "GORACE=atexit_sleep_ms=0")
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.output = bufio.NewReader(out)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Process.Kill() }) // most have ended by now
	return r
}

// end sends a signal and waits for the end, and for that of all who hold its output: its children do.
func (r *running) end(t *testing.T, s os.Signal) (took time.Duration) {
	t.Helper()
	began := time.Now()
	if err := r.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, r.output)
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("after 20 s somebody still holds its output")
	}
	_ = r.Wait() // the caller looks at ProcessState
	return time.Since(began)
}

// left lists the files in its folders.
func (r *running) left(t *testing.T) (all []string) {
	t.Helper()
	for _, dir := range []string{r.dir, r.tmp} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, e.Name())
		}
	}
	return all
}

// children lists the processes that it has started and that go on.
func (r *running) children(t *testing.T) (pids []int) {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	if len(stats) == 0 {
		t.Skip("this system does not show processes")
	}
	for _, file := range stats {
		stat, _ := os.ReadFile(file) // it may have ended
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(r.Process.Pid) {
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// plan writes rules to a file.
func plan(t *testing.T, rules string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte("rules: "+rules+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// hold opens requests that get no whole answer, and tells how each ends.
func hold(t *testing.T, r *running, url string, n int) (ended chan error) {
	t.Helper()
	ended = make(chan error, n)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	for i := range n {
		go func() {
			answer, err := (&http.Client{Transport: transport}).Get(fmt.Sprintf("%s/hang/%d", url, i))
			if err == nil {
				_, err = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
			ended <- err
		}()
	}
	return ended
}

// Whatever hangs, serve ends within a second of Ctrl-C or SIGTERM, in order and with its history whole.
func TestHangsDoNotHoldServeUp(t *testing.T) {
	rules := plan(t, "[{match: {path-prefix: /hang/}, sweep: [hang, {hang: {interim: 103}}, {latency: {fixed: 1h}}, {latency: {fixed: 1h, at: after}}, "+
		"{drip: {every: 1m}}, {slow-head: {every: 1m}}, {capacity: {service: 1h}}], per: call}]")
	const hangs = 21
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			r := run(t, "serve", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--plan", rules, "--journal", "journal.jsonl", "--quiet")
			url, control := address(r.output), address(r.output)
			ended := hold(t, r, url, hangs)
			for deadline := time.Now().Add(10 * time.Second); inFlight(t, control) < hangs; {
				if time.Now().After(deadline) {
					t.Fatalf("only %d requests hang", inFlight(t, control))
				}
			}
			late := lateness(t)
			if took, late := r.end(t, s), late(); took > time.Second+late || r.ProcessState.ExitCode() != 0 {
				t.Errorf("it ended after %v on a machine that was %v late meanwhile, with exit code %d", took, late, r.ProcessState.ExitCode())
			}
			for range hangs {
				if err := <-ended; err == nil || !strings.Contains(err.Error(), "EOF") && !strings.Contains(err.Error(), "reset") && !strings.Contains(err.Error(), "malformed") {
					t.Errorf("a client that hung sees %v", err)
				}
			}
			if left := r.left(t); len(left) != 1 || left[0] != "journal.jsonl" {
				t.Errorf("it left %v", left)
			}
			if h := saved(t, filepath.Join(r.dir, "journal.jsonl")); len(h.Entries) < hangs || h.Lost != 0 {
				t.Errorf("the history has %d entries, %d are lost", len(h.Entries), h.Lost)
			}
		})
	}
}

// lateness begins to watch by how much this machine is late; what it returns ends that and says how much in all.
func lateness(t *testing.T) (end func() time.Duration) {
	t.Helper()
	const tick = 10 * time.Millisecond
	stop, total := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for {
			began := time.Now()
			select {
			case <-stop:
				total <- late
				return
			case <-time.After(tick):
				late += time.Since(began) - tick
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-total
	}
}

// inFlight asks how many requests are going on.
func inFlight(t *testing.T, control string) int {
	t.Helper()
	answer, err := http.Get(control + "/v1/counts")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	found := regexp.MustCompile(`"in_flight": ?(\d+)`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no count of requests in flight in %s", text)
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}

// After kill -9 of serve nothing is left but the history, which can be read up to its last whole line.
func TestKilledServeLeavesItsHistory(t *testing.T) {
	rules := plan(t, "[{match: {path-prefix: /hang/}, fault: hang}, {match: {path: /x}, fault: 503}]")
	r := run(t, "serve", "--listen", "127.0.0.1:0", "--plan", rules, "--journal", "journal.jsonl", "--quiet")
	url := address(r.output)
	ended := hold(t, r, url, 5)
	for range 200 {
		get(t, url+"/x")
	}
	file := filepath.Join(r.dir, "journal.jsonl")
	for deadline := time.Now().Add(10 * time.Second); len(saved(t, file).Entries) < 200; {
		if time.Now().After(deadline) {
			t.Fatal("what is over is not in the file")
		}
	}
	if children := r.children(t); len(children) > 0 {
		t.Errorf("serve has children: %v", children)
	}
	r.end(t, syscall.SIGKILL)
	for range 5 {
		if err := <-ended; err == nil {
			t.Error("a client that hung has an answer")
		}
	}
	if left := r.left(t); len(left) != 1 {
		t.Errorf("it left %v", left)
	}
	if c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
		c.Close()
		t.Error("somebody still listens at its address")
	}
	h := saved(t, file)
	if len(h.Entries) != 200 || h.Lost == 0 {
		t.Errorf("the history has %d entries and %d lost; it is not known whether it is whole", len(h.Entries), h.Lost)
	}
	// Killed in the middle of a line, it would look like this.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, err = journal.Read(strings.NewReader(string(text[:len(text)-20])))
	if !errors.Is(err, journal.ErrTruncated) || len(h.Entries) != 199 || h.Lost == 0 {
		t.Errorf("without the end of the last line: %d entries, %d lost, %v", len(h.Entries), h.Lost, err)
	}
}

// After kill -9 of verify its clients and their children end, and no file is left.
func TestKilledVerifyLeavesNothing(t *testing.T) {
	for _, tool := range []string{"sh", "sleep", "grep"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("this machine has no %s", tool)
		}
	}
	r := run(t, "verify", "--scenario", "sustained-400", "--", "sh", "-c", "sleep 600 & exec sleep 600")
	for deadline := time.Now().Add(20 * time.Second); len(r.children(t)) < 2; { // the watchdog and a client
		if time.Now().After(deadline) {
			t.Fatal("no client was started")
		}
	}
	family := r.children(t)
	r.end(t, syscall.SIGKILL)
	for deadline := time.Now().Add(20 * time.Second); ; {
		var alive []string
		for _, pid := range family {
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && len(line) > 0 {
				alive = append(alive, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		if len(alive) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there: %q", alive)
		}
	}
	if left := r.left(t); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// What clients on a faster clock share goes too.
func TestKilledVerifyLeavesNoSharedMemory(t *testing.T) {
	if _, err := driver.Faketime(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	r := run(t, "verify", "--speed", "20", "--scenario", "503-burst", "--", "curl", "-sS", "--retry", "5", "{{url}}/")
	var ours string
	for deadline := time.Now().Add(20 * time.Second); ours == ""; {
		if time.Now().After(deadline) {
			t.Fatal("no client was started on a faster clock")
		}
		for _, pid := range r.children(t) {
			// The first tries out whether the clock works.
			if name := sharedBy(pid); name != "" && !strings.Contains(name, "proof") {
				ours = name
			}
		}
	}
	r.end(t, syscall.SIGKILL)
	// The watchdog, another process, takes it away; nothing tells when.
	harness, _, _ := strings.Cut(ours, ".")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left, _ := filepath.Glob("/dev/shm/*" + harness + "*")
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left: %v", left)
		}
	}
}

// sharedBy is the name of the memory in which a client on a faster clock finds it, "" for others. Tests side by side have
// such clients too, so the names alone do not tell whose they are.
func sharedBy(pid int) string {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // it may have ended
	for v := range strings.SplitSeq(string(environ), "\x00") {
		if names, ok := strings.CutPrefix(v, "FAKETIME_SHARED=/"); ok {
			name, _, _ := strings.Cut(names, " ")
			return name
		}
	}
	return ""
}
