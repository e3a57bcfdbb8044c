package driver

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
)

// longest is how many bytes of a line are looked at for an answer.
const longest = 16 << 10

// ids are what calls are named.
var ids = regexp.MustCompile(`^client-[0-9]+\.[0-9]+$`)

// answers reads what a shared worker prints. A line that begins with the id of a call says that this has ended, and what went
// wrong if there is more on it; all other lines go to other.
type answers struct {
	other  io.Writer
	closed chan struct{} // when nothing can come any more

	mu      sync.Mutex
	line    []byte                 // the beginning of one that has not ended
	long    bool                   // what comes next belongs to a line that is no answer
	calls   map[string]chan string // that were given: each gets what went wrong, "" for nothing
	told    map[string]bool        // calls that have ended
	unknown odd                    // answers for calls that were not given
	twice   odd                    // and for calls that had ended
}

// odd counts answers that are none.
type odd struct {
	first string // whose id it was
	more  int
}

func (o *odd) add(id string) {
	if o.first == "" {
		o.first = id
	} else {
		o.more++
	}
}

func newAnswers() *answers {
	return &answers{closed: make(chan struct{}), calls: map[string]chan string{}, told: map[string]bool{}}
}

// expect begins to listen for the answer to a call, which is to be given next.
func (a *answers) expect(id string) <-chan string {
	a.mu.Lock()
	defer a.mu.Unlock()
	ended := make(chan string, 1) // nobody may wait for it any more
	a.calls[id] = ended
	return ended
}

func (a *answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for rest := p; len(rest) > 0; {
		part, after, whole := bytes.Cut(rest, []byte("\n"))
		if whole {
			part = rest[:len(part)+1]
		}
		a.line, rest = append(a.line, part...), after
		switch {
		case a.long, len(a.line) > longest:
			a.pass()
			a.long = !whole
		case whole && a.answer(strings.TrimRight(string(a.line), "\r\n")):
			a.line = a.line[:0]
		case whole:
			a.pass()
		}
	}
	return len(p), nil
}

// pass gives the line, as far as there is one, to whoever wants the rest.
func (a *answers) pass() {
	_, _ = a.other.Write(a.line) // a tail takes anything
	a.line = a.line[:0]
}

// answer reports whether a line is one.
func (a *answers) answer(line string) bool {
	id, wrong, _ := strings.Cut(line, " ")
	if !ids.MatchString(id) {
		return false
	}
	switch ended, given := a.calls[id]; {
	case !given:
		a.unknown.add(id)
	case a.told[id]:
		a.twice.add(id)
	default:
		a.told[id] = true
		ended <- strings.TrimSpace(wrong)
		return true
	}
	return false
}

// end is called when nothing can come any more. What stands there without the end of its line is a line as well.
func (a *answers) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.long || !a.answer(strings.TrimRight(string(a.line), "\r")) {
		a.pass()
	}
	a.line = nil
	close(a.closed)
}

// pending is the beginning of a line that has not ended.
func (a *answers) pending() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return string(a.line)
}

// notes are whole sentences about answers that are none.
func (a *answers) notes() (notes []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, x := range []struct {
		odd
		text string
	}{
		{a.unknown, "the worker said that call %s had ended%s, which it was not given"},
		{a.twice, "the worker said more than once that call %s had ended%s: each line that begins with a call's id says so"},
	} {
		others := ""
		if x.more > 0 {
			others = fmt.Sprintf(" (and %d more like it)", x.more)
		}
		if x.first != "" {
			notes = append(notes, fmt.Sprintf(x.text, x.first, others))
		}
	}
	return notes
}
