package accesslog

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Format{
		Name: "journal", Rank: 8,
		Summary: "the journal that retrygate serve writes",
		Source:  "package journal",
		Example: `{"journal":1,"began":"2026-01-02T03:04:05Z","lost":0,"until_ns":60000000000,"entries":1}
{"seq":1,"at_ns":0,"took_ns":1000000,"client":"10.0.0.7","method":"POST","path":"/driver/status","body_sum":"000000000000004d","body_len":12,"body_whole":true,"conn":1,"proto":"HTTP/1.1","status":400}
`,
		lines: func(Options) parser { return &native{} },
	})
}

// native reads our own journal: a header that says when it began, then entries.
type native struct {
	began int64
	known bool
}

func (p *native) parse(line []byte, r *record) error {
	switch {
	case bytes.HasPrefix(line, []byte(`{"journal":1,`)):
		var header struct{ Began time.Time }
		if json.Unmarshal(line, &header) != nil {
			return errFormat
		}
		p.known, p.began = true, 0
		if !header.Began.IsZero() && header.Began.Year() >= 1970 && header.Began.Year() < 2200 {
			p.began = header.Began.UnixNano()
		}
		return errComment
	case p.known && bytes.HasPrefix(line, []byte(`{"until_ns":`)):
		return errComment
	case !p.known || !bytes.HasPrefix(line, []byte(`{"seq":`)):
		return errFormat
	}
	e, err := journal.ReadEntry(line)
	if err != nil || e.At < 0 || e.At > farAway || e.Took < 0 || e.Took > longest {
		return errFormat
	}
	if e.Unused() {
		return errComment
	}
	r.entry, r.stamp, r.exact, r.took, r.atStart = &e, p.began+int64(e.At), time.Nanosecond, e.Took, true
	return nil
}

// farAway is longer than any journal was written.
const farAway = 10 * 365 * 24 * time.Hour
