package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/retrygate/retrygate/assert/report"
)

// served is a retrygate serve that runs within the test.
type served struct {
	url, control string
	output       *bufio.Reader
	stop         func() (exit int, rest string)
}

func serve(t *testing.T, args ...string) served {
	t.Helper()
	s, err := startServe(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop() })
	return s
}

// startServe starts it on free ports; whoever does must stop it.
func startServe(args ...string) (served, error) {
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	exit := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		exit <- Main(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), nil, w, &stderr, nil)
		w.Close()
	}()
	output := bufio.NewReader(r)
	s := served{output: output, stop: sync.OnceValues(func() (int, string) {
		cancel()
		rest, _ := io.ReadAll(output)
		return <-exit, string(rest) + stderr.String()
	})}
	s.url = address(output)
	if slices.Contains(args, "--control") {
		s.control = address(output)
	}
	if s.url == "" {
		_, said := s.stop()
		return s, errors.New("serve gives no address: " + said)
	}
	return s, nil
}

// address finds the one in the next line.
func address(output *bufio.Reader) string {
	line, _ := output.ReadString('\n')
	return regexp.MustCompile(`https?://[0-9.:\[\]]+`).FindString(line)
}

func get(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestServeShowsWritesDownAndIsJudged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	s := serve(t, "--scenario", "sustained-400", "--journal", file)
	for range 3 {
		if status := get(t, s.url+"/driver/status"); status != 400 {
			t.Fatalf("status %d, want the scenario's 400", status)
		}
	}
	exit, out := s.stop()
	if exit != 0 {
		t.Errorf("exit code %d, want 0", exit)
	}
	for _, want := range []string{"GET /driver/status -> 400", "requests  3 in ", "3 times", "retrygate verify --journal " + file + " --scenario sustained-400"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}

	var judged, stderr bytes.Buffer
	code := Main(t.Context(), []string{"verify", "--journal", file, "--scenario", "sustained-400", "--report", "json"}, nil, &judged, &stderr, nil)
	var r report.Report
	if err := json.Unmarshal(judged.Bytes(), &r); err != nil {
		t.Fatalf("%v; %s", err, stderr.String())
	}
	if code != report.ExitBroken || r.Exit != code {
		t.Errorf("exit code %d, want 1: a 400 was sent three times\n%s", code, judged.String())
	}
}

func TestServePassesUndisturbedRequestsOn(t *testing.T) {
	upstream := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go upstream.Serve(l)
	defer upstream.Close()

	s := serve(t, "--quiet", "--upstream", "http://"+l.Addr().String())
	if status := get(t, s.url); status != http.StatusTeapot {
		t.Errorf("status %d, want the upstream's 418", status)
	}
	exit, out := s.stop()
	if exit != 0 || strings.Contains(out, "418") || !strings.Contains(out, "none planned") {
		t.Errorf("exit %d:\n%s", exit, out)
	}
}

func TestServeTakesAPlan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte("rules:\n  - {name: gone, match: {path: /old}, fault: 410}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--plan", file)
	if old, other := get(t, s.url+"/old"), get(t, s.url+"/new"); old != 410 || other != 200 {
		t.Errorf("got %d and %d, want 410 and 200", old, other)
	}
	s.stop()
}

func TestServePortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().String()
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"serve", "--listen", addr}, nil, &stdout, &stderr, nil)
	want := "retrygate: serve: " + addr + " is in use by another program; take another address with --listen, or any free port with --listen 127.0.0.1:0\n"
	if code != 2 || stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

func TestControlBeyondLoopbackHasAToken(t *testing.T) {
	s := serve(t, "--allow-remote", "--control", "0.0.0.0:0")
	line, err := s.output.ReadString('\n')
	token, ok := strings.CutPrefix(strings.TrimSpace(line), "retrygate wants the token ")
	if err != nil || !ok || len(token) < shortestToken {
		t.Fatalf("%q, %v", line, err)
	}
	_, port, _ := strings.Cut(s.control, "]:")
	ask := func(authorization string) int {
		r, err := http.NewRequest("GET", "http://127.0.0.1:"+port+"/v1/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", authorization)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	if without, with := ask(""), ask("Bearer "+token); without != 401 || with != 200 {
		t.Errorf("without the token %d, with it %d", without, with)
	}
}

// What is shown goes on after the run was reset.
func TestServeShowsTheNewRun(t *testing.T) {
	s := serve(t, "--control", "127.0.0.1:0")
	get(t, s.url+"/before")
	answer, err := http.Post(s.control+"/v1/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	get(t, s.url+"/after")
	_, out := s.stop()
	if !regexp.MustCompile(`(?s)the run begins anew.*#1 .*GET /after -> 200.*requests  1 in`).MatchString(out) {
		t.Errorf("%s", out)
	}
}
