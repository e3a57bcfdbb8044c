package driver

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/scenarios"
)

var address = regexp.MustCompile(`http://[0-9.:]+`)

// side makes the calls of all lines side by side: each sends one request, waits, and says that it has ended.
const side = `echo start $$; while read -r id url; do (curl -s -o /dev/null -H "X-Retrygate-Call: $id" "$url/driver/status"; sleep 0.3; echo "$id") & done; wait`

// TestClientsShareAProcess has one that ends no call before all twelve have begun.
func TestClientsShareAProcess(t *testing.T) {
	need(t, "sh", "curl", "cat")
	together := `echo start $$; for n in 1 2 3 4 5 6 7 8 9 10 11 12; do read -r id url; all="$all $id"; ` +
		`curl -s -o /dev/null -H "X-Retrygate-Call: $id" "$url/driver/status" & done; wait; for id in $all; do echo "$id"; done; cat`
	out := mustRun(t, scenarios.Scenario{Name: "calm", Clients: 12}, CommandShared("sh", "-c", together), Options{Stub: faultserver.Stub{Status: 503}})
	if len(out.Notes) > 0 || len(out.History.Entries) != 12 {
		t.Errorf("%d requests, notes %q", len(out.History.Entries), out.Notes)
	}
	for _, e := range out.History.Entries {
		if e.Call != e.Client+".1" {
			t.Errorf("call %s came to the address of %s", e.Call, e.Client)
		}
	}
	for _, e := range out.Ends {
		if e.Exit != (Exit{Code: -1}) || e.Requests != 1 || e.Stopped != "" {
			t.Errorf("%+v", e)
		}
		if strings.Count(e.Output.Stdout, "start") != 1 || strings.Contains(e.Output.Stdout, "client") {
			t.Errorf("it printed %q", e.Output.Stdout)
		}
	}
	nothingLeft(t)
}

func TestSharedWorkerSaysWhatWentWrong(t *testing.T) {
	need(t, "sh", "curl")
	out := mustRun(t, scenarios.Scenario{Name: "calm", Clients: 2}, CommandShared("sh", "-c",
		`while read -r id url; do curl -s -o /dev/null "$url"; case $id in client-1.*) printf '%s  out of luck\r\n' "$id";; *) echo "$id ";; esac; done`), Options{})
	if got := out.Ends[0].String(); got != "ended with an error: out of luck" {
		t.Error(got)
	}
	if got := out.Ends[1].String(); got != "ended without an error" || len(out.Notes) > 0 {
		t.Errorf("%s, notes %q", got, out.Notes)
	}
}

// TestSharedWorkIsCounted has two workers' calls overlap no more than the scenario lets them.
func TestSharedWorkIsCounted(t *testing.T) {
	need(t, "sh", "curl", "sleep")
	s := worked(10*time.Millisecond, 3)
	s.Clients, s.Work.Workers = 2, 1
	out := mustRun(t, s, CommandShared("sh", "-c", side), Options{})
	last := map[string]time.Duration{}
	var calls []string
	for _, e := range out.History.Entries {
		if before, ok := last[e.Client]; ok && e.At-before < 300*time.Millisecond {
			t.Errorf("a call of %s began %v after the one before, which had not ended", e.Client, e.At-before)
		}
		last[e.Client] = e.At
		calls = append(calls, e.Call)
	}
	slices.Sort(calls)
	if got := strings.Join(calls, " "); got != "client-1.1 client-1.2 client-1.3 client-2.1 client-2.2 client-2.3" {
		t.Error(got)
	}
	if given := out.Run.Given; len(given["client-1"]) != 3 || len(given["client-2"]) != 3 || len(out.Notes) > 0 {
		t.Errorf("given %v, notes %q", given, out.Notes)
	}
}

// TestStoppedClientsLeaveTheOthersAlone has one client of two storm.
func TestStoppedClientsLeaveTheOthersAlone(t *testing.T) {
	need(t, "sh", "curl", "sleep")
	for _, c := range []struct {
		name, script, stopped, calm string
		options                     Options
	}{
		{"a storm", `while :; do curl -s -m 1 "$url"; done`, "it would have gone on", "2", Options{StormLimit: 5, Enough: -1}},
		{"enough", `for n in 1 2 3; do curl -s "$url"; done; sleep 5; curl -s -m 1 "$url"; sleep 600`, "that settles how it retries", "6", Options{Enough: 3}},
		{"the limit", `curl -s "$url"; sleep 600`, "did not end within 5 s, or its worker did not say so, and was stopped", "0", Options{Limit: 5 * time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script := `while read -r id url; do case $id in client-1.*) (` + c.script + `; echo "$id") & ;; *) (curl -s -o /dev/null "$url"; sleep ` + c.calm + `; curl -s -o /dev/null "$url"; echo "$id") & ;; esac; done; wait`
			c.options.Stub = faultserver.Stub{Status: 503}
			out := mustRun(t, scenarios.Scenario{Name: "s0", Clients: 2}, CommandShared("sh", "-c", script), c.options)
			wild, calm := out.Ends[0], out.Ends[1]
			if !strings.HasSuffix(wild.Stopped, c.stopped) || wild.Exit.lost != "" || wild.StoppedAt == 0 {
				t.Errorf("%+v", wild)
			}
			if n := wild.Requests; c.name == "enough" && (n != 3 || len(out.History.Entries) != 3+2) {
				t.Errorf("%d requests, %d of all: its address was left to it", n, len(out.History.Entries))
			}
			if calm.Stopped != "" || calm.Requests != 2 || calm.String() != "ended without an error" {
				t.Errorf("%+v", calm)
			}
			if len(out.Notes) != 1 || !out.Run.Ended {
				t.Errorf("ended %v, notes %q", out.Run.Ended, out.Notes)
			}
		})
	}
	t.Cleanup(func() { nothingLeft(t) })
}

// TestWhatASharedWorkerWaitsForStaysOpen stops a client in the middle of an exchange: it did not give up.
func TestWhatASharedWorkerWaitsForStaysOpen(t *testing.T) {
	t.Parallel()
	need(t, "sh", "curl")
	s := load(t, "limit: 3s\nclients: 2\nrules: [{name: silence, fault: {hang: {}}}]\n")
	out := mustRun(t, s, CommandShared("sh", "-c", `while read -r id url; do (curl -s "$url"; echo "$id") & done; wait`), Options{})
	for i, e := range out.History.Entries {
		if end := out.Ends[i]; !e.Open || e.Gone != 0 || e.Cut || end.Stopped == "" || end.StoppedAt < 3*time.Second {
			t.Errorf("%+v\n%+v", e, end)
		}
	}
	if len(out.History.Entries) != 2 || !out.Run.Ended {
		t.Errorf("%d requests, ended: %v", len(out.History.Entries), out.Run.Ended)
	}
}

// TestDeathOfASharedProcess has it die in the middle of calls.
func TestDeathOfASharedProcess(t *testing.T) {
	need(t, "sh", "curl", "sleep")
	for _, c := range []struct{ name, last, note string }{
		{"with a code", "exit 7", "client-0 was cut off when the process that it shares with other clients ended with exit code 7"},
		{"by a signal", "kill -9 $$", "client-0 was cut off when the process that it shares with other clients was ended by signal: killed"},
		{"deaf and dumb", "exec >/dev/null; sleep 600", "client-0 was cut off when the process that it shares with other clients closed its standard output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script := `read -r id1 url1; read -r id2 url2; read -r id3 url3; for u in $url1 $url2 $url3; do curl -s -o /dev/null $u; done; echo oops >&2; echo $id3; ` + c.last
			out := mustRun(t, scenarios.Scenario{Name: "s0", Clients: 3}, CommandShared("sh", "-c", script), Options{Start: time.Second})
			answered := 0
			for _, e := range out.Ends {
				if e.Stopped == "" {
					answered++
				}
				if e.Requests != 1 {
					t.Errorf("%+v", e)
				}
			}
			want := strings.Replace(c.note, "client-0", "client-N (and another)", 1) + "; its output: oops"
			if len(out.Notes) != 1 || answered != 1 || regexp.MustCompile(`client-\d`).ReplaceAllString(out.Notes[0], "client-N") != want {
				t.Errorf("%d answered, notes %q", answered, out.Notes)
			}
		})
	}
	t.Cleanup(func() { nothingLeft(t) })
}

// TestWorkEndsWithItsProcess has it end between two calls.
func TestWorkEndsWithItsProcess(t *testing.T) {
	need(t, "sh", "curl")
	out := mustRun(t, worked(time.Hour, 4), CommandShared("sh", "-c", `read -r id url; curl -s -o /dev/null "$url"; echo "$id"; exit 3`), Options{})
	want := "client-1 ended with exit code 3 and left 3 calls of the work undone; it printed nothing"
	if end := out.Ends[0]; end.Exit.Untaken != 3 || len(out.Notes) != 1 || out.Notes[0] != want {
		t.Errorf("%+v, notes %q", end, out.Notes)
	}
	s := worked(time.Millisecond, 4)
	s.Work.Workers = 1
	out = mustRun(t, s, CommandShared("sh", "-c",
		`read -r id url; exec </dev/null; curl -s -o /dev/null "$url"; echo "$id"; sleep 600`), Options{})
	if got := out.Ends[0].Message; !strings.HasPrefix(got, "client-1 ended with an error: it closed its standard input and left 3 calls of the work undone") {
		t.Error(got)
	}
	nothingLeft(t)
}

func TestOddAnswers(t *testing.T) {
	need(t, "sh", "curl")
	for _, c := range []struct{ name, script, note, stdout string }{
		{"for a call that was not given", `echo client-8.1; echo client-9.1 x; while read -r id url; do curl -s -o /dev/null "$url"; echo "$id"; done`,
			"the worker said that call client-8.1 had ended (and 1 more like it), which it was not given", "client-8.1\nclient-9.1 x\n"},
		{"twice", `while read -r id url; do curl -s -o /dev/null "$url"; echo "$id"; echo "$id too"; done`,
			"the worker said more than once that call client-1.1 had ended: each line that begins with a call's id says so", "client-1.1 too\n"},
		{"without an end", `while read -r id url; do curl -s -o /dev/null "$url"; printf "$id"; exit; done`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := mustRun(t, scenarios.Scenario{Name: "calm"}, CommandShared("sh", "-c", c.script), Options{})
			if got := strings.Join(out.Notes, "; "); got != c.note {
				t.Error(got)
			}
			if end := out.Ends[0]; end.String() != "ended without an error" || end.Output.Stdout != "" && end.Output.Stdout != c.stdout {
				t.Errorf("%+v", end)
			}
		})
	}
}

// TestSharedWorkersThatAreNone are told what they lack when they are looked at.
func TestSharedWorkersThatAreNone(t *testing.T) {
	need(t, "sh", "curl", "sleep")
	lacks := "a worker that clients share prints the id of each call on a line of its own when the call has ended (client-1.1), " +
		"flushes it, and goes on to the end of its input; "
	for _, c := range []struct{ name, script, want string }{
		{"answers nothing", `while read -r id url; do curl -s -o /dev/null "$url"; done`,
			"sh did not end within 5 s, or its worker did not say so, and was stopped, although every request (1 so far) was answered at once; " + lacks + "it printed nothing"},
		{"ends after one call", `read -r id url; curl -s -o /dev/null "$url"; echo done`,
			"sh ended with exit code 0 before it said that its call had ended, although every request (1 so far) was answered at once; " + lacks + "its output: done"},
		{"closes its output", `read -r id url; curl -s -o /dev/null "$url"; exec >/dev/null; sleep 600`,
			"sh closed its standard output before it said that its call had ended, although every request (1 so far) was answered at once; " + lacks + "it printed nothing"},
		{"dies at once", `echo no >&2; exit 2`, "sh ended with exit code 2 and never sent a request to URL; does it read lines with an id and an address, and send its requests to that? its output: no"},
		{"answers before it sends", `while read -r id url; do echo "$id"; done`,
			"sh ended without an error and never sent a request to URL; does it read lines with an id and an address, and send its requests to that? it printed nothing"},
		{"reads nothing", `sleep 600`,
			"sh did not end within 5 s, or its worker did not say so, and was stopped; it never sent a request to URL; does it read lines with an id and an address, and send its requests to that? it printed nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Look(t.Context(), CommandShared("sh", "-c", c.script), Options{Limit: 5 * time.Second})
			if err == nil {
				t.Fatal("it is taken for one")
			}
			if got := address.ReplaceAllString(err.Error(), "URL"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	t.Cleanup(func() { nothingLeft(t) })
}

// TestOneCallAfterTheOther has a worker let calls wait for each other.
func TestOneCallAfterTheOther(t *testing.T) {
	need(t, "sh", "curl", "sleep")
	out := mustRun(t, scenarios.Scenario{Name: "calm", Clients: 2}, CommandShared("sh", "-c",
		`while read -r id url; do curl -s -o /dev/null "$url"; sleep 600; echo "$id"; done`), Options{Limit: time.Second})
	silent := out.Ends[slices.IndexFunc(out.Ends, func(e End) bool { return e.Silent })]
	want := " did not end within 1 s, or its worker did not say so, and was stopped and never sent a request to " + silent.URL +
		"; a worker that clients share must not let a call wait for the end of another; it printed nothing"
	if silent.Message != silent.Client+want {
		t.Error(silent.Message)
	}
}

// TestCancelEndsProcessesOfTheirOwn has the caller of each of two clients cancel.
func TestCancelEndsProcessesOfTheirOwn(t *testing.T) {
	need(t, "sh", "curl", "sleep")
	s := cancelling(t, "rules: [{name: trouble, fault: 503}]\n", 100*time.Millisecond)
	s.Clients = 2
	out := mustRun(t, s, CommandShared("sh", "-c", `while read -r id url; do curl -s -o /dev/null "$url"; sleep 5; curl -s -o /dev/null "$url"; echo "$id"; done`), Options{})
	for _, end := range out.Ends {
		if end.Requests != 1 || end.Cancelled < 100*time.Millisecond || end.Exit.Signal != "terminated" || end.Stopped != "" {
			t.Errorf("%+v", end)
		}
	}
}
