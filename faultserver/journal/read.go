package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// maxLine is the longest line that Read accepts. The longest that a Journal's entry takes is well below.
const maxLine = 1 << 20

// byteOrderMark begins files that some editors and shells on Windows write.
const byteOrderMark = "\ufeff"

// ErrTruncated says that the end of a written history is missing. Read returns it with what was there.
var ErrTruncated = errors.New("the end of the journal is missing")

// Read reads a history that Write or WriteLive wrote. Errors name the line and what is wrong with it; unknown fields,
// entries out of order (but for a live history) and other versions of the format are refused. Where only the end is
// missing, as after a crash, the error is ErrTruncated and the history holds the entries before it.
func Read(r io.Reader) (History, error) {
	p := newParser(r)
	err := p.header()
	for err == nil {
		err = p.entry()
	}
	switch {
	case errors.Is(err, io.EOF):
		err = p.complete()
	case errors.Is(err, ErrTruncated) && p.live:
		err = cmp.Or(p.sort(), err)
	}
	if err != nil {
		err = fmt.Errorf("journal: line %d: %w", max(1, p.line), err)
	}
	if err != nil && !errors.Is(err, ErrTruncated) {
		return History{}, err
	}
	return p.history, err
}

type parser struct {
	in      *bufio.Reader
	line    int
	feed    bytes.Reader  // gives the decoder one line at a time
	decoder *json.Decoder // one for all lines: making one costs more than reading a line
	want    *uint64       // entries that the header announces
	live    bool          // they stand in the order in which they ended
	end     *end          // of a live history, once it was read
	history History
}

func newParser(r io.Reader) *parser {
	p := &parser{in: bufio.NewReaderSize(r, maxLine)}
	p.decoder = json.NewDecoder(&p.feed)
	p.decoder.DisallowUnknownFields()
	return p
}

// next returns the next line that is not blank. last says that no newline ended it.
func (p *parser) next() (text []byte, last bool, err error) {
	for {
		text, err = p.in.ReadSlice('\n')
		if len(text) > 0 {
			p.line++
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, false, fmt.Errorf("longer than %d bytes, which no entry is", maxLine)
		case err != nil && !errors.Is(err, io.EOF):
			return nil, false, err
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return text, err != nil, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

func (p *parser) header() error {
	if mark, _ := p.in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = p.in.Discard(len(mark)) // it has just been seen
	}
	text, last, err := p.next()
	if errors.Is(err, io.EOF) {
		return errors.New(`empty; a journal begins with a header like {"journal":1,"lost":0,"until_ns":1000000000}`)
	}
	if err != nil {
		return err
	}
	var probe struct{ Journal *int }
	if err := json.Unmarshal(text, &probe); err != nil || probe.Journal == nil {
		return errors.New(`not a journal; the first line must be a header like {"journal":1,"lost":0,"until_ns":1000000000}`)
	}
	if *probe.Journal != version {
		return fmt.Errorf("version %d of the format; this program reads version %d", *probe.Journal, version)
	}
	var h header
	if err := p.decode(text, last, &h); err != nil {
		return err
	}
	if h.Until < 0 {
		return fmt.Errorf("until_ns is %d; a run cannot last less than nothing", h.Until)
	}
	p.want, p.live = h.Entries, h.Live
	p.history = History{Lost: h.Lost, Until: time.Duration(h.Until), Began: h.Began.UTC()}
	return nil
}

func (p *parser) entry() error {
	text, last, err := p.next()
	if err != nil {
		return err
	}
	if p.end != nil {
		return errors.New("more after the end of the history")
	}
	if p.live && bytes.HasPrefix(text, []byte(endBegins)) {
		var e end
		if err := p.decode(text, last, &e); err != nil {
			return err
		}
		p.end = &e
		return nil
	}
	var l line
	if err := p.decode(text, last, &l); err != nil {
		return err
	}
	e, err := l.entry()
	if err != nil {
		return err
	}
	if err := cmp.Or(p.order(&e), check(&e)); err != nil {
		return err
	}
	p.history.Entries = append(p.history.Entries, e)
	return nil
}

// order refuses an entry that did not arrive after the one before. Those of a live history are put in order at its end.
func (p *parser) order(e *Entry) error {
	var before Entry
	if n := len(p.history.Entries); n > 0 && !p.live {
		before = p.history.Entries[n-1]
	}
	switch {
	case e.Seq <= before.Seq:
		return fmt.Errorf("seq is %d after %d; it must rise from 1, in order of arrival", e.Seq, before.Seq)
	case e.At < before.At:
		return fmt.Errorf("at_ns is %d after %d; entries stand in order of arrival", e.At, before.At)
	}
	return nil
}

// check refuses what no journal holds, so that a judge need not expect it.
func check(e *Entry) error {
	switch {
	case e.Took < 0:
		return fmt.Errorf("took_ns is %d; nothing takes less than no time", e.Took)
	case e.Gone < 0:
		return fmt.Errorf("gone_ns is %d; times count from the start of the run", e.Gone)
	case e.BodyLen < 0:
		return fmt.Errorf("body_len is %d; a body cannot be shorter than nothing", e.BodyLen)
	case e.Gone > 0 && e.Gone < e.At:
		return fmt.Errorf("gone_ns is %d, before at_ns %d; no client leaves before it came", e.Gone, e.At)
	case !isStatus(e.Status):
		return fmt.Errorf("status is %d; want 100 to 999, or none", e.Status)
	case !isStatus(e.Upstream):
		return fmt.Errorf("upstream is %d; want 100 to 999, or none", e.Upstream)
	case !e.More().Directive.known():
		return fmt.Errorf("directive is %q; want yes, no or pushback", e.More().Directive)
	case e.More().Hop < 0:
		return fmt.Errorf("hop is %d; proxies count their attempts from 1", e.More().Hop)
	}
	return nil
}

// isStatus reports whether a status has three digits, or is 0: none.
func isStatus(s int) bool { return s == 0 || s >= 100 && s <= 999 }

// complete compares what was read with what the header announces.
func (p *parser) complete() error {
	got := uint64(len(p.history.Entries))
	switch {
	case p.end != nil && got != p.end.Entries:
		return fmt.Errorf("the end counts %d entries, but there are %d", p.end.Entries, got)
	case p.live:
		return p.sort()
	case got > 0 && p.history.Entries[got-1].At > p.history.Until:
		return fmt.Errorf("arrived at %d, after the header's until_ns of %d; a run is watched until its last arrival at least",
			p.history.Entries[got-1].At, p.history.Until)
	case p.want == nil || got == *p.want:
		return nil
	case got < *p.want:
		return fmt.Errorf("%w: %d of %d entries are there", ErrTruncated, got, *p.want)
	default:
		return fmt.Errorf("the header announces %d entries, but there are %d", *p.want, got)
	}
}

// sort puts the entries of a live history in order of arrival. Unless its end tells, it was watched until its last entry,
// as far as is known, and something else was still going on.
func (p *parser) sort() error {
	h := &p.history
	h.Lost = max(1, h.Lost)
	if p.end != nil {
		h.Lost, h.Until = p.end.Lost, max(h.Until, time.Duration(p.end.Until))
	}
	slices.SortFunc(h.Entries, func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	for i, e := range h.Entries {
		h.Until = max(h.Until, e.End())
		if i == 0 {
			continue
		}
		switch before := h.Entries[i-1]; {
		case e.Seq == before.Seq:
			return fmt.Errorf("seq %d stands there twice", e.Seq)
		case e.At < before.At:
			return fmt.Errorf("at_ns of seq %d is %d, after %d of seq %d; it arrived later", e.Seq, e.At, before.At, before.Seq)
		}
	}
	return nil
}

// decode reads one line strictly. The last line of a file is taken for cut off when it is not JSON.
func (p *parser) decode(text []byte, last bool, into any) error {
	p.feed.Reset(text)
	before := p.decoder.InputOffset()
	err := p.decoder.Decode(into)
	if end := p.decoder.InputOffset() - before; err == nil && end < int64(len(text)) {
		return fmt.Errorf("more after the end of the object, at column %d", end+1)
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case last && (errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax)):
		return fmt.Errorf("%w: this line is cut off after %d bytes", ErrTruncated, len(text))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("not a whole JSON object: it ends too early")
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON at column %d: %w", syntax.Offset-before, err)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("a %s is no entry; want a JSON object", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%s: a %s does not fit; want %s", kind.Field, kind.Value, kind.Type)
	default:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
}

// ReadEntry reads one line of a written history that is an entry, for readers that take lines one by one.
func ReadEntry(text []byte) (Entry, error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Entry{}, fmt.Errorf("journal: %w", err)
	}
	return l.entry()
}
