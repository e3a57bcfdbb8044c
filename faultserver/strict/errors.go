package strict

import (
	"fmt"
	"sort"
	"strings"
)

// shown bounds how many errors of one file are printed; All holds the rest.
const shown = 50

// repeated is how often the same words are given one by one.
const repeated = 3

// Pos is a place in a file; lines and columns count from 1, columns in characters.
type Pos struct {
	File         string
	Line, Column int
}

// String gives "file:line:column".
func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Error is one mistake. Value is the text that stands at the place, "" for a mapping or sequence. Pointer is the JSON
// Pointer (RFC 6901) to it; "" is the whole file, also where the file could not be read as far.
type Error struct {
	File         string
	Line, Column int
	Pointer      string
	Value, Msg   string
}

// Error gives "file:line:column: message".
func (e Error) Error() string { return Pos{e.File, e.Line, e.Column}.String() + ": " + e.Msg }

// Errors is everything that is wrong with one file, in the order of the file.
//
//nolint:errname // a list, met as strict.Errors
type Errors struct{ All []Error }

// Error gives one line for each mistake. The same words at many places (a file full of aliases) are given once, with how
// often they apply.
func (e *Errors) Error() string {
	times := map[string]int{}
	for _, one := range e.All {
		times[one.Msg]++
	}
	var lines []string
	for _, one := range e.All {
		more := ""
		switch n := times[one.Msg]; {
		case n == 0:
			continue // said before
		case n > repeated:
			more = fmt.Sprintf(" (and at %d places more)", n-1)
			times[one.Msg] = 0
		}
		if len(lines) == shown {
			lines = append(lines, one.File+": and more of other kinds")
			break
		}
		lines = append(lines, one.Error()+more)
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a single Error.
func (e *Errors) Unwrap() []error {
	all := make([]error, len(e.All))
	for i, one := range e.All {
		all[i] = one
	}
	return all
}

// decoder collects the errors of one file.
type decoder struct {
	file     string
	mistakes []mistake
	at       map[[2]int]bool // places that have an error
	places   int             // given to the nodes of a value that no file holds
}

// mistake is an error with what it is about, nil for the text of the file.
type mistake struct {
	Error
	about *tree
}

// fail notes an error in the text of the file.
func (d *decoder) fail(line, column int, value, format string, args ...any) {
	d.note(nil, line, column, value, fmt.Sprintf(format, args...))
}

// failAt notes an error about a value.
func (d *decoder) failAt(t *tree, format string, args ...any) {
	d.note(t, t.line, t.column, t.text, fmt.Sprintf(format, args...))
}

// note keeps an error unless the place has one: what follows from a mistake is not worth a second line.
func (d *decoder) note(about *tree, line, column int, value, message string) {
	place := [2]int{line, column}
	if d.at[place] {
		return
	}
	if d.at == nil {
		d.at = map[[2]int]bool{}
	}
	d.at[place] = true
	d.mistakes = append(d.mistakes, mistake{Error{d.file, line, column, "", value, message}, about})
}

func (d *decoder) err() error {
	if len(d.mistakes) == 0 {
		return nil
	}
	sort.SliceStable(d.mistakes, func(i, j int) bool {
		a, b := d.mistakes[i], d.mistakes[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	all := make([]Error, len(d.mistakes))
	for i, m := range d.mistakes {
		all[i] = m.Error
		all[i].Pointer = m.about.pointer()
	}
	return &Errors{all}
}

// clip shortens a value for a message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
