package faultserver

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// getJournal answers with what is in the journal, or follows it.
func (c *Control) getJournal(a *ask) (any, error) {
	offers := []string{mediaJSON, mediaNDJSON}
	if a.query.follow {
		offers = offers[1:]
	}
	media := negotiate(a.r.Header.Get("Accept"), offers)
	if media == "" {
		return nil, refuse(http.StatusNotAcceptable, "the journal comes as %s, which Accept %q does not take",
			strings.Join(offers, " or "), a.r.Header.Get("Accept"))
	}
	a.w.Header().Set("Content-Type", media)
	if a.query.follow {
		c.follow(a)
		return nil, nil
	}
	out := bufio.NewWriterSize(patient{a}, 64<<10)
	h := a.query.filter.apply(c.server.journal.History(), a.query.limit)
	if media == mediaNDJSON {
		_ = journal.Write(out, h) // only a client that left makes it fail
	} else {
		writeArray(out, h.Entries)
	}
	_ = out.Flush()
	return nil, nil
}

// apply leaves out the entries that are not meant. Where that may tear a call apart they count as lost, so that a judge
// concludes nothing from what is missing.
func (f *filter) apply(h journal.History, limit int) journal.History {
	kept := h.Entries[:0]
	for i := range h.Entries {
		e := &h.Entries[i]
		switch {
		case f.takes(e, h.Began) && (limit == 0 || len(kept) < limit):
			kept = append(kept, *e)
		case f.ofClient(e):
			h.Lost++
		}
	}
	h.Entries = kept
	return h
}

// writeArray writes entries as one JSON array, each on a line of its own.
func writeArray(out *bufio.Writer, entries []journal.Entry) {
	var line bytes.Buffer
	between := "[\n"
	for _, e := range entries {
		line.Reset()
		_ = journal.WriteEntry(&line, e) // a buffer takes everything
		_, _ = out.WriteString(between)
		_, _ = out.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
		between = ",\n"
	}
	if len(entries) == 0 {
		_, _ = out.WriteString("[")
	}
	_, _ = out.WriteString("\n]\n")
}

// patient gives the client time for each piece of a long answer.
type patient struct{ *ask }

func (p patient) Write(b []byte) (int, error) {
	p.patience()
	return p.w.Write(b)
}

// gather lets the entries of a storm be looked at together.
const gather = 10 * time.Millisecond

// follow writes each entry that is meant once it has ended, until the client leaves or the run is over.
func (c *Control) follow(a *ask) {
	j, f, left := c.server.journal, &a.query.filter, a.query.limit
	cursor := j.Cursor(f.since)
	out := bufio.NewWriterSize(patient{a}, 64<<10)
	_ = journal.WriteLive(out, journal.History{Began: cursor.Began().Round(0).UTC(), Lost: j.Lost(), Until: j.Elapsed()})
	for {
		changed := j.Changed()
		entries, anew := cursor.Next()
		if anew {
			return
		}
		for i := range entries {
			if e := &entries[i]; !e.Open && f.takes(e, cursor.Began()) {
				_ = journal.WriteEntry(out, *e) // Flush tells
				if left--; left == 0 {
					_ = out.Flush()
					return
				}
			}
		}
		if out.Flush() != nil || a.conn.Flush() != nil {
			return
		}
		select {
		case <-a.r.Context().Done():
			return
		case <-changed:
			time.Sleep(gather)
		}
	}
}
