package accesslog

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// Options say how logs are to be read. The zero value finds the format out and tells clients by address and user, and
// where one address has several programs (User-Agent) by these.
type Options struct {
	Format string            // name of the format; "": found out, line by line
	Client []string          // what tells clients apart: remote, user, header:NAME; default remote and user, and their programs
	Fields map[string]string // where JSON lines keep a field: "time": "@t", "duration": "latency:ms" (ns, us, ms or s)
}

// Input is one log.
type Input struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// File is a log in a file.
func File(name string) Input {
	return Input{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
}

// Summary says what was read and how far it can be trusted. It is complete when the reading is over.
type Summary struct {
	Files      []FileSummary
	Entries    int
	Malformed  []string      // the first few lines that could not be read, as "file:line: why"
	Late       int           // entries that came so late in their file that they are out of order
	Resolution time.Duration // what the coarsest timestamp is rounded to
	Began      time.Time     // wall clock at time 0 of the entries
	Until      time.Duration // the end of the last exchange
	Durations  bool          // any line said how long its request took
	Bodies     bool          // any line had a hash of its request's body, or its length
	Keys       bool          // any line had an idempotency key
	RetryAfter bool          // any line had a Retry-After
	Whole      bool          // the lines are a journal's, which know everything
	Notes      []string      // what else a reader of the result should know
}

// FileSummary is what was found in one input.
type FileSummary struct {
	Name      string
	Formats   []string // as they were found out, the most frequent first
	Entries   int
	Malformed int
}

// Lines counts the lines that could not be read.
func (s *Summary) Lines() (malformed int) {
	for _, f := range s.Files {
		malformed += f.Malformed
	}
	return malformed
}

// mostShown is how many malformed lines are shown.
const mostShown = 5

// learn notes what the log knows about requests.
func (s *Summary) learn(r *record) {
	if r.entry != nil {
		s.Whole = true
		return
	}
	s.Durations = s.Durations || r.took > 0
	s.Bodies = s.Bodies || r.body != nil || r.length > 0
	s.Keys = s.Keys || r.key != nil
	s.RetryAfter = s.RetryAfter || r.retryAfter != nil
}

// Reader reads logs as one history. Use All once.
type Reader struct {
	summary Summary
	sources sources
	closers []func()
	feeds   []*lineFeed // of each source, nil for documents
	began   int64
	seq     uint64
	users   *crowd // over all inputs
}

// Open opens the inputs and looks at their beginnings. Errors name the input, or the option with the nearest valid names;
// all at once. All closes the inputs.
func Open(inputs []Input, o Options) (*Reader, error) {
	var users *crowd
	if len(o.Client) == 0 {
		o.Client, users = defaultClient, &crowd{}
	}
	formats, err := o.formats()
	if err := errors.Join(err, checkClient(o.Client), o.checkFields()); err != nil {
		return nil, err
	}
	r := &Reader{users: users}
	r.summary.Files = make([]FileSummary, len(inputs))
	var errs []error
	for i, input := range inputs {
		r.summary.Files[i].Name = input.Name
		errs = append(errs, r.open(input, &r.summary.Files[i], formats, o))
	}
	if err := errors.Join(errs...); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (o Options) formats() ([]Format, error) {
	if o.Format == "" {
		return Formats.All(), nil
	}
	f, err := Formats.Get(o.Format)
	if err != nil {
		return nil, fmt.Errorf("accesslog: %w", err)
	}
	return []Format{f}, nil
}

func (o Options) checkFields() error {
	var known []string
	for _, f := range Fields {
		known = append(known, f.Name)
	}
	var errs []error
	for name, key := range o.Fields {
		ok := false
		for _, k := range known {
			ok = ok || k == name
		}
		_, unit, mapped := strings.Cut(key, ":")
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("accesslog: unknown field %q%s", name, registry.Suggest(name, known)))
		case key == "":
			errs = append(errs, fmt.Errorf("accesslog: field %s: name the key that holds it", name))
		case mapped && (name != "duration" || units[unit] == 0):
			errs = append(errs, fmt.Errorf("accesslog: field %s: %q: behind a colon stands the unit of a duration: ns, us, ms or s", name, key))
		}
	}
	return errors.Join(errs...)
}

func (r *Reader) open(input Input, file *FileSummary, formats []Format, o Options) error {
	in, err := input.Open()
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return fmt.Errorf("%s: %w", input.Name, err)
	}
	r.closers = append(r.closers, func() { in.Close() })
	stream, done, err := unpack(in)
	if err != nil {
		return fmt.Errorf("%s: %w", input.Name, err)
	}
	r.closers = append(r.closers, done)
	s := &source{name: input.Name, maker: &maker{client: o.Client, crowd: r.users}, report: &r.summary, file: file, window: leastWindow, given: -1 << 62}
	if r.users != nil {
		s.record.headers = append(s.record.headers, headerValue{name: agentHeader})
	}
	for _, part := range o.Client {
		if name, ok := strings.CutPrefix(part, "header:"); ok {
			s.record.headers = append(s.record.headers, headerValue{name: strings.ToLower(name)})
		}
	}
	lines := r.feed(s, stream, formats, o)
	r.sources, r.feeds = append(r.sources, &head{source: s, order: len(r.sources)}), append(r.feeds, lines)
	return nil
}

// feed chooses how the stream is read.
func (r *Reader) feed(s *source, stream *bufio.Reader, formats []Format, o Options) *lineFeed {
	begin, _ := stream.Peek(512)
	for _, f := range formats {
		if f.document != nil && (o.Format != "" || f.opens(begin)) {
			s.next0 = f.document(stream, o).next
			s.file.Formats = []string{f.Name}
			return nil
		}
	}
	lines := newLineFeed(newScanner(stream), formats, o)
	s.next0 = lines.next
	return lines
}

// Close gives up before the end. All does it by itself.
func (r *Reader) Close() {
	for _, c := range r.closers {
		c()
	}
	r.closers = nil
}

// All yields the entries in order of arrival, numbered from 1. An error ends it: a log that cannot be read any further or
// has no good line at all, or no request in all of them. Lines that are malformed are counted in the Summary.
func (r *Reader) All() iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		defer r.Close()
		if err := r.each(func(e *journal.Entry) bool { return yield(*e, nil) }); err != nil {
			yield(journal.Entry{}, err)
		}
	}
}

// Each calls visit for every entry, as All does, without a copy: the entry is good until visit returns. It stops when visit
// returns false.
func (r *Reader) Each(visit func(e *journal.Entry) bool) error {
	defer r.Close()
	return r.each(visit)
}

func (r *Reader) each(visit func(e *journal.Entry) bool) error {
	defer r.finish()
	for i := range r.sources {
		if err := r.sources[i].advance(&r.summary); err != nil {
			return err
		}
	}
	r.sources = r.sources.without()
	heap.Init(&r.sources)
	for len(r.sources) > 0 {
		h := r.sources[0]
		if !r.visit(h.item, visit) {
			return nil
		}
		h.source.recycle(h.item)
		if err := h.advance(&r.summary); err != nil {
			return err
		}
		if h.item == nil {
			heap.Pop(&r.sources)
		} else if len(r.sources) > 1 {
			heap.Fix(&r.sources, 0)
		}
	}
	if r.summary.Entries == 0 {
		return errors.New("there is no request in the log")
	}
	return nil
}

// visit numbers and dates an entry and hands it on.
func (r *Reader) visit(it *item, visit func(e *journal.Entry) bool) bool {
	e := &it.entry
	if r.seq == 0 {
		r.began = it.arrival
		if began := time.Unix(0, r.began).UTC(); began.Year() > 1970 {
			r.summary.Began = began
		}
	}
	r.seq++
	times(e, it.arrival, r.began, it.left)
	e.Seq = r.seq
	if !r.summary.Whole {
		e.Auth = r.seq // not known, and so not the same as any other
	}
	r.summary.Entries++
	r.summary.Until = max(r.summary.Until, e.End())
	return visit(e)
}

// finish sums up what formats were found.
func (r *Reader) finish() {
	for i, f := range r.feeds {
		if f == nil {
			continue
		}
		file := &r.summary.Files[i]
		file.Formats = nil
		for most := 1; most > 0; {
			most = 0
			var best *candidate
			for _, c := range f.candidates {
				if c.lines > most {
					most, best = c.lines, c
				}
			}
			if best != nil {
				file.Formats = append(file.Formats, best.format.Name)
				best.lines = 0
			}
		}
	}
}

// Summary says what was read so far.
func (r *Reader) Summary() Summary { return r.summary }

// head is a source with its next entry.
type head struct {
	source *source
	order  int   // of the input, where two arrived at once
	item   *item // nil at the end
}

// advance reads the next entry. A compressed log that was cut off is read as far as it goes.
func (h *head) advance(report *Summary) error {
	var err error
	h.item, err = h.source.next()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) && h.source.file.Entries > 0:
		report.Notes = append(report.Notes, h.source.name+": the end of the log is missing; it is read as far as it goes")
		h.source.ended = true
		return h.advance(report)
	case errors.Is(err, io.EOF):
		h.item = nil
		return nil
	default:
		h.item = nil
		return named(h.source.name, err)
	}
}

// named puts the input's name before an error that does not say it.
func named(name string, err error) error {
	if bytes.HasPrefix([]byte(err.Error()), []byte(name+":")) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// sources is a heap of inputs by the arrival of their next entries.
type sources []*head

func (s sources) Len() int { return len(s) }
func (s sources) Less(i, j int) bool {
	a, b := s[i], s[j]
	return a.item.arrival < b.item.arrival || a.item.arrival == b.item.arrival && a.order < b.order
}
func (s sources) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

// Push adds an input, for package heap.
func (s *sources) Push(x any) { *s = append(*s, x.(*head)) }

// Pop takes the last, for package heap.
func (s *sources) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}

// without drops inputs that hold nothing.
func (s sources) without() sources {
	var left sources
	for _, h := range s {
		if h.item != nil {
			left = append(left, h)
		}
	}
	return left
}
