package playbook_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/playbook"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// traffic is a history in the making.
type traffic []journal.Entry

// send adds a request of which a log without bodies knows nothing more.
func (t *traffic) send(at time.Duration, client, method, path string, status int) *journal.Entry {
	*t = append(*t, journal.Entry{At: at, Took: 2 * time.Millisecond, Client: client, Method: method, Path: path, Proto: "HTTP/1.1", Status: status,
		Early: method == "POST", BodyWhole: method != "POST"})
	return &(*t)[len(*t)-1]
}

func (t traffic) findings(o playbook.Options) playbook.Findings {
	slices.SortStableFunc(t, func(a, b journal.Entry) int { return int(a.At - b.At) })
	v := playbook.New(o)
	for i := range t {
		t[i].Seq = uint64(i + 1)
		v.Add(&t[i])
	}
	return v.Findings(playbook.Facts{Until: t[len(t)-1].End()})
}

// outage is down for five minutes after twenty good ones.
func outage(at time.Duration, down int) int {
	if at >= 20*time.Minute && at < 25*time.Minute {
		return down
	}
	return 200
}

// TestWhoIsAccused plays each client by itself: those that loop are named, and those that only look like it are not.
func TestWhoIsAccused(t *testing.T) {
	const hour, sec, ms = time.Hour, time.Second, time.Millisecond
	random := rand.New(rand.NewPCG(1, 1))
	every := func(t *traffic, step time.Duration, each func(at time.Duration)) {
		for at := step; at < hour; at += step {
			each(at)
		}
	}
	rows := []struct {
		name    string
		accused bool
		play    func(t *traffic)
	}{
		{"many users behind one address, through an outage", false, func(l *traffic) {
			every(l, 100*ms, func(at time.Duration) { l.send(at, "nat", "POST", "/orders", outage(at, 503)) })
		}},
		{"many users behind one address, one in five a wrong password", false, func(l *traffic) {
			every(l, 200*ms, func(at time.Duration) {
				l.send(at, "nat", "POST", "/login", []int{200, 200, 401, 200, 200}[random.IntN(5)])
			})
		}},
		{"a poller through an outage", false, func(l *traffic) {
			every(l, 2*sec, func(at time.Duration) { l.send(at, "poller", "GET", "/feed", outage(at, 503)) })
		}},
		{"a poller for something that is not there yet", false, func(l *traffic) {
			every(l, 10*sec, func(at time.Duration) { l.send(at, "poller", "GET", "/jobs/17", 404) })
		}},
		{"a busy client whose requests succeed", false, func(l *traffic) {
			every(l, 20*ms, func(at time.Duration) { l.send(at, "busy", "POST", "/positions", 202) })
		}},
		{"a crawler that meets many 404s", false, func(l *traffic) {
			every(l, 100*ms, func(at time.Duration) { l.send(at, "crawler", "GET", fmt.Sprint("/page/", at), 404) })
		}},
		{"retries as agreed, body known", false, func(l *traffic) {
			every(l, 3*time.Minute, func(at time.Duration) {
				for k, wait := range []time.Duration{0, sec, 3 * sec, 7 * sec} {
					e := l.send(at+wait, "polite", "POST", "/orders", 503)
					e.BodySum, e.BodyWhole, e.Early = uint64(at), true, false
					_ = k
				}
			})
		}},
		{"comes back as Retry-After says, again and again", false, func(l *traffic) {
			every(l, 5*sec, func(at time.Duration) {
				e := l.send(at, "obedient", "POST", "/orders", 429)
				e.RetryAfter, e.Key = "4", "k1"
			})
		}},
		{"positions of one length, through an outage", false, func(l *traffic) {
			every(l, sec, func(at time.Duration) { l.send(at, "tracker", "POST", "/positions", outage(at, 503)).BodyLen = 180 })
		}},
		{"heartbeats with one body, through an outage", false, func(l *traffic) {
			every(l, sec, func(at time.Duration) {
				e := l.send(at, "heart", "PUT", "/devices/17/alive", outage(at, 503))
				e.BodySum, e.BodyWhole = 7, true
			})
		}},
		{"a person presses the button twice more", false, func(l *traffic) {
			every(l, 10*time.Minute, func(at time.Duration) {
				for k := range 3 {
					e := l.send(at+time.Duration(k)*2*sec, "person", "POST", "/orders", 422)
					e.BodySum, e.BodyWhole, e.Early = 7, true, false
				}
			})
		}},
		{"loops on a 400 among many users behind one address", true, func(l *traffic) {
			every(l, 3*sec, func(at time.Duration) { l.send(at, "nat", "POST", "/status", 200) })
			for at := 30 * time.Minute; at < 32*time.Minute; at += 100 * ms {
				l.send(at, "nat", "POST", "/status", 400)
			}
		}},
		{"loops slowly on a 400, once a second", true, func(l *traffic) {
			every(l, sec, func(at time.Duration) { l.send(at, "slow", "POST", "/status", 400) })
		}},
		{"sends the same body after a 401 every 8 s", true, func(l *traffic) {
			every(l, 8*sec, func(at time.Duration) {
				e := l.send(at, "stale", "POST", "/token", 401)
				e.BodySum, e.BodyWhole, e.Early = 9, true, false
			})
		}},
		{"retries at once through an outage", true, func(l *traffic) {
			every(l, 10*sec, func(at time.Duration) { l.send(at, "script", "GET", "/report", outage(at, 200)) })
			for at := 20 * time.Minute; at < 22*time.Minute; at += 25 * ms {
				l.send(at+3*ms, "script", "GET", "/report", 503)
			}
		}},
		{"resets, over and over", true, func(l *traffic) {
			for at := sec; at < 2*time.Minute; at += 50 * ms {
				e := l.send(at, "reset", "PUT", "/things/17", 0)
				e.Cut = true
			}
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var l traffic
			row.play(&l)
			f := l.findings(playbook.Options{})
			if (len(f.Accused) > 0) != row.accused {
				t.Errorf("accused: %+v\nothers: %+v", f.Accused, f.Others)
			}
			if want := map[bool]int{true: 1, false: 0}[row.accused]; f.Exit != want || (f.Verdict == assert.Fail) != row.accused {
				t.Errorf("exit %d, verdict %s", f.Exit, f.Verdict)
			}
			for _, c := range f.Accused {
				if len(c.Breaks) == 0 || c.Storm == nil || c.Pattern == "" {
					t.Errorf("accused of nothing: %+v", c)
				}
			}
		})
	}
}

// TestContract holds clients to what was agreed and not to a habit.
func TestContract(t *testing.T) {
	generous, err := assert.LoadContract("c.yaml", []byte("profile: strict\nattempts: {max: 100, within: 30m}\nlimits: {client-rate: 5000/1m}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var l traffic
	for at := time.Duration(0); at < 5*time.Minute; at += time.Second {
		e := l.send(at, "a", "POST", "/orders", 503)
		e.Key = fmt.Sprint("k", at/time.Minute)
	}
	if f := l.findings(playbook.Options{}); len(f.Accused) != 1 || f.Redundant != 5*(60-4) {
		t.Errorf("by the strict contract: %d redundant", f.Redundant)
	}
	if f := l.findings(playbook.Options{Contract: generous}); len(f.Accused) != 0 {
		t.Errorf("by a contract of 100 attempts: %+v", f.Accused)
	}
}

// TestAlerts counts in a sliding window, whatever the answers.
func TestAlerts(t *testing.T) {
	limit := assert.Rate{N: 10, Per: time.Minute}
	for _, row := range []struct {
		step time.Duration
		want bool
	}{{6 * time.Second, false}, {5900 * time.Millisecond, true}} {
		var l traffic
		for i := range 30 {
			l.send(time.Duration(i)*row.step, "a", "GET", "/x", 200)
		}
		f := l.findings(playbook.Options{Alerts: []assert.Rate{limit}})
		if (len(f.Alerts) == 1) != row.want || (f.Exit == 1) != row.want {
			t.Errorf("every %s: %+v, exit %d", row.step, f.Alerts, f.Exit)
		}
		if row.want && (f.Alerts[0].AtS != 59 || f.Alerts[0].Exceeded != 20) {
			t.Errorf("%+v", f.Alerts[0])
		}
	}
}

// TestBounded keeps memory to clients and endpoints, whatever they send.
func TestBounded(t *testing.T) {
	v := playbook.New(playbook.Options{})
	for i := range 200_000 {
		v.Add(&journal.Entry{At: time.Duration(i) * time.Millisecond, Client: "a", Method: "POST", Path: fmt.Sprintf("/%c%c/x", 'a'+i%26, 'a'+i/26%26), Query: fmt.Sprint(i), Status: 500})
	}
	f := v.Findings(playbook.Facts{})
	if f.Requests != 200_000 || len(f.Endpoints) != 10 || len(f.Others) != 10 || f.Others[0].Path != "(further endpoints)" {
		t.Errorf("%d requests, %d endpoints, others %+v", f.Requests, len(f.Endpoints), f.Others)
	}
}

func TestTemplate(t *testing.T) {
	for path, want := range map[string]string{
		"/driver/status":       "/driver/status",
		"/orders/1234/items/5": "/orders/{id}/items/{id}",
		"/v1/users/me":         "/v1/users/me",
		"/v2.1/x":              "/v2.1/x",
		"/f/3fa85f64-5717-4562-b3fc-2c963f66afa6": "/f/{id}",
		"/hooks/evt_0001234":                      "/hooks/{id}",
		"/assets/app-4f3c2b1a.js":                 "/assets/{id}",
		"/a//b/":                                  "/a//b/",
		"":                                        "",
	} {
		if got := playbook.Template(path); got != want {
			t.Errorf("%s became %s, want %s", path, got, want)
		}
	}
}
