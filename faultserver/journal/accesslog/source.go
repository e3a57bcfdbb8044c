package accesslog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// item is an entry that waits for its turn.
type item struct {
	arrival int64 // Unix nanoseconds
	left    bool
	entry   journal.Entry
}

// How far lines may be out of order of arrival. A request is logged when it is over, so that one that took long comes
// behind others that arrived later; workers that buffer their lines mix them by seconds.
const (
	leastWindow = 2 * time.Second
	mostWindow  = 5 * time.Minute
	mostWaiting = 1 << 18 // entries, about 75 MB
	resync      = 64      // lines in a row that are older than the window: the clock was set back
)

// badLine is one malformed request of a document.
type badLine struct{ what string }

func (b *badLine) Error() string { return b.what }

// source gives the entries of one input in order of arrival.
type source struct {
	name    string
	next0   func(r *record) error // the next record; *badLine, io.EOF, or an error that ends everything
	maker   *maker
	record  record
	report  *Summary
	file    *FileSummary
	waiting []*item // in order of arrival
	spare   []*item
	newest  int64 // when the latest line was written, as far as is known
	window  time.Duration
	old     int // lines in a row that are older than the window
	given   int64
	ended   bool
}

// next returns the next entry in order of arrival, or io.EOF. The item is the caller's until recycle.
func (s *source) next() (*item, error) {
	for {
		if len(s.waiting) > 0 && (s.ended || len(s.waiting) > mostWaiting || s.waiting[0].arrival <= s.newest-int64(s.window)) {
			it := s.waiting[0]
			s.waiting = s.waiting[1:]
			if it.arrival < s.given {
				s.report.Late++
			}
			s.given = max(s.given, it.arrival)
			return it, nil
		}
		if s.ended {
			return nil, io.EOF
		}
		if err := s.read(); err != nil {
			return nil, err
		}
	}
}

// recycle takes an item back.
func (s *source) recycle(it *item) { s.spare = append(s.spare, it) }

// read reads one record and puts it in its place.
func (s *source) read() error {
	r := &s.record
	r.reset()
	if err := s.next0(r); err != nil {
		return s.without(err)
	}
	s.file.Entries++
	if r.exact > s.report.Resolution {
		s.report.Resolution = r.exact
	}
	var it *item
	if n := len(s.spare); n > 0 {
		it, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		it = &item{}
	}
	s.report.learn(r)
	took := r.took
	if r.exact > time.Millisecond {
		// Of two requests one after the other, the second must not seem to begin before the first was over: rounded as the
		// times are, the wait between them comes out at zero or above, and too short by less than the rounding.
		r.took = r.took.Truncate(r.exact)
	}
	s.maker.entry(r, &it.entry)
	it.arrival, it.left = r.stamp, r.left && r.entry == nil
	written := r.stamp
	if r.atStart {
		written += int64(r.took)
	} else {
		it.arrival -= int64(r.took)
	}
	s.clock(written, took)
	s.place(it)
	return nil
}

// without deals with what stands in the place of a record: a malformed line, the end, or an error that ends the reading.
func (s *source) without(err error) error {
	var bad *badLine
	switch {
	case errors.As(err, &bad):
		return s.malformed(bad.what)
	case errors.Is(err, io.EOF):
		s.ended = true
		return s.conclude()
	default:
		return err
	}
}

// clock follows the time at which lines are written.
func (s *source) clock(written int64, took time.Duration) {
	s.window = max(s.window, min(mostWindow, 2*took), leastWindow)
	switch {
	case written >= s.newest:
		s.newest, s.old = written, 0
	case written < s.newest-2*int64(mostWindow):
		if s.old++; s.old >= resync {
			s.newest, s.old = written, 0
		}
	default:
		s.old = 0
	}
}

// place puts it behind all that arrived before or with it. Most belong at the end.
func (s *source) place(it *item) {
	n := len(s.waiting)
	if n == 0 || s.waiting[n-1].arrival <= it.arrival {
		s.waiting = append(s.waiting, it)
		return
	}
	i, _ := slices.BinarySearchFunc(s.waiting, it.arrival, func(w *item, arrival int64) int {
		if w.arrival <= arrival {
			return -1
		}
		return 1
	})
	s.waiting = slices.Insert(s.waiting, i, it)
}

// hopeless is how many malformed lines without a good one end the reading.
const hopeless = 10_000

// malformed counts a line that cannot be read, and gives up on a file that has no good one.
func (s *source) malformed(what string) error {
	s.file.Malformed++
	if len(s.report.Malformed) < mostShown {
		s.report.Malformed = append(s.report.Malformed, s.name+":"+what)
	}
	if s.file.Entries == 0 && s.file.Malformed >= hopeless {
		return s.conclude()
	}
	return nil
}

// conclude checks at the end that there was something good in the file.
func (s *source) conclude() error {
	if s.file.Entries > 0 || s.file.Malformed == 0 {
		return nil
	}
	first := "nothing"
	for _, shown := range s.report.Malformed {
		if rest, ok := cutPrefix(shown, s.name+":"); ok {
			first = rest
			break
		}
	}
	return fmt.Errorf("%s: none of %d lines could be read as an access log; line %s", s.name, s.file.Malformed, first)
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}

// candidate is a format with its parser for one input.
type candidate struct {
	format Format
	parser parser
	lines  int
}

// lineFeed reads lines, each by the format of the one before it or else by any other.
type lineFeed struct {
	lines      *scanner
	candidates []*candidate
	current    int
}

func newLineFeed(lines *scanner, formats []Format, o Options) *lineFeed {
	f := &lineFeed{lines: lines}
	for _, format := range formats {
		if format.lines != nil {
			f.candidates = append(f.candidates, &candidate{format: format, parser: format.lines(o)})
		}
	}
	slices.SortStableFunc(f.candidates, func(a, b *candidate) int { return cmp.Compare(a.format.Rank, b.format.Rank) })
	return f
}

func (f *lineFeed) next(r *record) error {
	for {
		line, err := f.lines.next()
		switch {
		case errors.Is(err, errLong):
			return &badLine{strconv.Itoa(f.lines.line) + ": " + errLong.Error()}
		case err != nil:
			return err
		case len(line) == 0:
			continue
		}
		if err := f.parse(line, r); !errors.Is(err, errComment) {
			return err
		}
		r.reset()
	}
}

// parse tries the current format first, then all others.
func (f *lineFeed) parse(line []byte, r *record) error {
	for i := -1; i < len(f.candidates); i++ {
		k := i
		if i < 0 {
			k = f.current
		} else if i == f.current {
			continue
		}
		r.reset()
		c := f.candidates[k]
		err := c.parser.parse(line, r)
		if err == nil && r.entry == nil && (r.stamp < 0 || r.stamp > farthest*int64(time.Second)) {
			err = errFormat
		}
		if err == nil || errors.Is(err, errComment) {
			f.current = k
			if err == nil {
				c.lines++
			}
			return err
		}
	}
	return &badLine{fmt.Sprintf("%d: %s: %s", f.lines.line, f.what(), excerpt(line))}
}

func (f *lineFeed) what() string {
	if len(f.candidates) == 1 {
		return "not a line of format " + f.candidates[0].format.Name
	}
	return "no known format"
}

// excerpt shows the beginning of a line; what is not plain text is escaped.
func excerpt(line []byte) string {
	const most = 80
	if len(line) > most {
		return strconv.Quote(string(line[:most])) + "..."
	}
	return strconv.Quote(string(line))
}
