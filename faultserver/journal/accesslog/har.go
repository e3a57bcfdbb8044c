package accesslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

func init() {
	register(Format{
		Name: "har", Rank: 5,
		Summary: "HTTP archive, as browsers and proxies save it: the requests of one client, with their bodies",
		Source:  "HAR 1.2 Spec (softwareishard.com/blog/har-12-spec), whose fields the example uses",
		Example: `{"log":{"version":"1.2","creator":{"name":"Firebug","version":"1.6"},"entries":[{"startedDateTime":"2009-04-16T12:07:23.596Z","time":50,"request":{"method":"POST","url":"http://www.example.com/path/?param=value","httpVersion":"HTTP/1.1","headers":[{"name":"User-Agent","value":"driver-app/4.2"}],"postData":{"mimeType":"application/json","text":"{}"},"bodySize":2},"response":{"status":503,"headers":[{"name":"Retry-After","value":"2"}]}}]}}
`,
		document: func(r io.Reader, o Options) feed { return newHAR(r) },
		opens:    opensHAR,
	})
}

// largestEntry bounds what is read of one request of an archive with the bodies in it.
const largestEntry = 64 << 20

func opensHAR(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	rest, ok := bytes.CutPrefix(head, []byte("{"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return ok && bytes.HasPrefix(rest, []byte(`"log"`)) && bytes.Contains(rest, []byte(`"version"`))
}

// har reads log.entries one after the other.
type har struct {
	source  *io.LimitedReader
	decoder *json.Decoder
	inside  bool
	seen    int
}

func newHAR(r io.Reader) *har {
	limited := &io.LimitedReader{R: r, N: largestEntry}
	return &har{source: limited, decoder: json.NewDecoder(limited)}
}

type harEntry struct {
	Started string  `json:"startedDateTime"`
	Time    float64 `json:"time"` // ms
	Request struct {
		Method, URL, HTTPVersion string
		Headers                  []harHeader
		BodySize                 int64
		PostData                 *struct{ Text string }
	}
	Response struct {
		Status  int
		Headers []harHeader
	}
	Connection string
}

type harHeader struct{ Name, Value string }

func (h *har) next(r *record) error {
	if !h.inside {
		if err := h.enter(); err != nil {
			return err
		}
	}
	h.source.N = largestEntry
	if !h.decoder.More() {
		return io.EOF
	}
	h.seen++
	var e harEntry
	err := h.decoder.Decode(&e)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return &badLine{fmt.Sprintf("entry %d: %s: a %s does not fit", h.seen, kind.Field, kind.Value)}
	case err != nil && h.source.N <= 0:
		return fmt.Errorf("entry %d is larger than %d MB", h.seen, largestEntry>>20)
	case err != nil:
		return fmt.Errorf("entry %d: %w", h.seen, err)
	}
	return e.fill(r, h.seen)
}

// enter goes to the list of entries.
func (h *har) enter() error {
	for depth := 0; ; {
		t, err := h.decoder.Token()
		if err != nil {
			return errors.New("not an HTTP archive: no log.entries")
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		case "entries":
			if depth != 2 {
				continue
			}
			if t, err := h.decoder.Token(); err == nil && t == json.Delim('[') {
				h.inside = true
				return nil
			}
		}
	}
}

func (e *harEntry) fill(r *record, number int) error {
	var ok bool
	if r.stamp, r.exact, ok = isoTime([]byte(e.Started)); !ok {
		return &badLine{fmt.Sprintf("entry %d: startedDateTime %q is no time", number, e.Started)}
	}
	r.remote = []byte("archive") // of one client, who is not named
	q := &e.Request
	if q.Method == "" || e.Response.Status < 0 || e.Response.Status > 999 {
		return &badLine{fmt.Sprintf("entry %d: no request and answer", number)}
	}
	r.atStart = true
	r.took = time.Duration(max(0, min(e.Time, 1e9)) * float64(time.Millisecond))
	r.method, r.target, r.proto, r.length = []byte(q.Method), []byte(q.URL), []byte(q.HTTPVersion), q.BodySize
	r.status, r.cut = e.Response.Status, e.Response.Status == 0
	if q.PostData != nil {
		r.body, r.length = []byte(q.PostData.Text), int64(len(q.PostData.Text))
	}
	for _, h := range q.Headers {
		name := strings.ToLower(h.Name)
		switch name {
		case "idempotency-key", "webhook-id":
			r.key = []byte(h.Value)
		}
		r.header(name, []byte(h.Value))
	}
	for _, h := range e.Response.Headers {
		if strings.EqualFold(h.Name, "Retry-After") {
			r.retryAfter = []byte(h.Value)
		}
	}
	return nil
}
