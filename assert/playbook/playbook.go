package playbook

import (
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// Options say what clients are held to.
type Options struct {
	Contract *assert.Contract // nil: assert.Strict
	Alerts   []assert.Rate    // tell each client that sends more to one endpoint, whatever the answers
}

// Investigation takes entries in order of arrival. Memory grows with the clients and what they ask for, not with the
// entries.
type Investigation struct {
	rules   rules
	alerts  []assert.Rate
	clients map[string]*client
	streams []*stream // in order of appearance
	entries int
	samples int // entries that are kept as evidence, of all streams
	paths   map[string]string
}

// rules are what the contract means for requests one by one.
type rules struct {
	contract  *assert.Contract
	table     *assert.Responses
	attempts  int     // most attempts at one call; 0: no bound
	payload   int     // repeats of one failed payload in a minute
	perMinute float64 // requests of one client to one endpoint in a minute
}

// What a contract that names no limits is taken to allow.
const (
	usualPayload   = 3
	usualPerMinute = 100
)

func newRules(c *assert.Contract) rules {
	if c == nil {
		c = assert.Strict()
	}
	r := rules{contract: c, table: c.Responses, attempts: c.Attempts.Max, payload: usualPayload, perMinute: usualPerMinute}
	if r.table == nil {
		r.table = assert.StrictResponses()
	}
	if limit := c.Limits.IdenticalPayload; !limit.IsZero() {
		r.payload = max(1, int(float64(limit.N)*float64(time.Minute)/float64(limit.Per)))
	} else if r.attempts > 1 {
		r.payload = max(usualPayload, r.attempts-1)
	}
	for i, limit := range c.Limits.ClientRate {
		rate := float64(limit.N) * float64(time.Minute) / float64(limit.Per)
		if i == 0 || rate < r.perMinute {
			r.perMinute = rate
		}
	}
	return r
}

// New starts an investigation.
func New(o Options) *Investigation {
	return &Investigation{rules: newRules(o.Contract), alerts: o.Alerts, clients: map[string]*client{}, paths: map[string]string{}}
}

// client is what one client asked for.
type client struct {
	name         string
	streams      map[endpoint]*stream
	last         *stream // and the request that led there
	method, path string
}

// mostStreams bounds the endpoints that are told apart for one client; what comes beyond is counted together.
const mostStreams = 64

// Add takes the next entry. It keeps no reference to it.
func (v *Investigation) Add(e *journal.Entry) {
	if e.Unused() {
		return
	}
	v.entries++
	c := v.clients[e.Client]
	if c == nil {
		c = &client{name: e.Client, streams: map[endpoint]*stream{}}
		v.clients[e.Client] = c
	}
	v.stream(c, e).add(v, e)
}

// stream finds where the entry belongs.
func (v *Investigation) stream(c *client, e *journal.Entry) *stream {
	if c.last != nil && c.method == e.Method && c.path == e.Path {
		return c.last
	}
	where := endpoint{e.Method, v.template(e.Path)}
	s := c.streams[where]
	if s == nil && len(c.streams) >= mostStreams {
		where = endpoint{"*", "(further endpoints)"}
		s = c.streams[where]
	}
	if s == nil {
		s = newStream(c.name, where, v.alerts)
		c.streams[where] = s
		v.streams = append(v.streams, s)
	}
	c.last, c.method, c.path = s, e.Method, e.Path
	return s
}

// mostPaths bounds the paths whose templates are remembered.
const mostPaths = 1 << 14

func (v *Investigation) template(path string) string {
	t, ok := v.paths[path]
	if !ok {
		if len(v.paths) >= mostPaths {
			clear(v.paths)
		}
		t = Template(path)
		v.paths[path] = t
	}
	return t
}
