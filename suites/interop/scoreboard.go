package interop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
)

// boardFile is the scoreboard's front page.
const boardFile = "README.md"

// Board is the scoreboard: every client in a row, every clause of the strict contract, and a page a client with the evidence.
type Board struct {
	Languages []Language
	Results   []Result
	Skipped   map[string]string // why a language is not there, by its id
}

// Write makes the scoreboard anew in a folder of its own.
func (b Board) Write(dir string) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	errs := []error{os.WriteFile(filepath.Join(dir, boardFile), []byte(b.front()), 0o644)}
	for _, l := range b.Languages {
		for _, row := range b.rows(l) {
			errs = append(errs, os.WriteFile(filepath.Join(dir, row.file()), []byte(row.page()), 0o644))
		}
	}
	return errors.Join(errs...)
}

// row is one client with what came of it.
type row struct {
	Client
	Result Result
}

// file is the client's page.
func (r row) file() string { return r.Result.Language + "-" + r.Result.Client + ".md" }

// rows are a language's clients that were run.
func (b Board) rows(l Language) (rows []row) {
	for _, result := range b.Results {
		if result.Language != l.ID {
			continue
		}
		if c, err := l.client(result.Client); err == nil {
			rows = append(rows, row{c, result})
		}
	}
	return rows
}

const intro = `# How real clients retry

Made by ` + "`make interop`" + `: each client at the version named, as it comes or as its documentation shows, against the same faults; requests
are counted and timed where they arrive. Each was expected to do just that: its source was read first, and what it says is
in ` + "`expected.yaml`" + ` files. *Kept*, *broken* and *up to the caller* are about the strict contract (` + "`retrygate explain CLAUSE`" + ` tells
what a clause means): up to the caller is what a library leaves to the code around it, which did nothing about it here.

Requests are those for one call when every answer is the same for good: 400, 503, or a reset of the connection.

`

func (b Board) front() string {
	var s strings.Builder
	s.WriteString(intro)
	s.WriteString("| client | version | after 400 | after 503 | after a reset | inferred from what followed 503 | kept | broken | up to the caller |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	for _, l := range b.Languages {
		for _, r := range b.rows(l) {
			count := r.tally()
			fmt.Fprintf(&s, "| [%s](%s) | %s | %s | %s | %s | %s | %d | %d | %d |\n", r.Title(), r.file(), r.Result.Version,
				r.requests("400"), r.requests("503"), r.requests("reset"), r.Result.Policy, count[kept], count[broken], count[caller])
		}
	}
	for _, l := range b.Languages {
		if rows := b.rows(l); len(rows) > 0 {
			fmt.Fprintf(&s, "\n## %s\n\n%s", l.Name, matrix(rows))
		}
	}
	var left []string
	for _, l := range b.Languages {
		if why, ok := b.Skipped[l.ID]; ok {
			left = append(left, fmt.Sprintf("- %s: %s", l.Name, why))
		}
	}
	if len(left) > 0 {
		fmt.Fprintf(&s, "\n## Not here\n\n%s\n", strings.Join(left, "\n"))
	}
	return s.String()
}

// requests is how many requests were seen in a case, with a plus if the client was stopped.
func (r row) requests(name string) string {
	most, stopped := 0, ""
	for _, s := range r.Result.Seen {
		if s.Case == name {
			most = max(most, s.Requests)
			if s.Stopped {
				stopped = "+"
			}
		}
	}
	return fmt.Sprint(most, stopped)
}

// standing is how a client stands to a clause.
type standing uint8

const (
	unseen standing = iota // nothing put it to the test
	kept
	broken
	caller
	undecided
)

var standings = [...]string{"–", "kept", "**broken**", "caller", "undecided"}

func (s standing) String() string { return standings[s] }

// standing of the client to a clause, and what was found.
func (r row) standing(clause string) (standing, string) {
	if r.Result.Report == nil {
		return unseen, ""
	}
	verdict, detail := worst(*r.Result.Report, clause)
	switch verdict {
	case assert.Pass:
		return kept, detail
	case assert.Inconclusive:
		return undecided, detail
	case assert.Fail:
		if _, ok := r.Contract.Caller[clause]; ok {
			return caller, detail
		}
		return broken, detail
	default:
		return unseen, detail
	}
}

// tally counts the clauses by standing.
func (r row) tally() map[standing]int {
	count := map[standing]int{}
	for _, j := range assert.Strict().Judges() {
		s, _ := r.standing(j.Kind.ID)
		count[s]++
	}
	return count
}

// matrix has a row for each clause that some client was put to, and a column for each client.
func matrix(rows []row) string {
	var judged []row
	for _, r := range rows {
		if r.Result.Report != nil {
			judged = append(judged, r)
		}
	}
	var s strings.Builder
	s.WriteString("| clause |")
	for _, r := range judged {
		fmt.Fprintf(&s, " [%s](%s) |", r.ID, r.file())
	}
	s.WriteString("\n|---|" + strings.Repeat("---|", len(judged)) + "\n")
	for _, j := range assert.Strict().Judges() {
		some, line := false, []string{"| " + j.Kind.ID + " |"}
		for _, r := range judged {
			at, _ := r.standing(j.Kind.ID)
			some = some || at != unseen
			line = append(line, r.link(j.Kind.ID, at)+" |")
		}
		if some {
			s.WriteString(strings.Join(line, " ") + "\n")
		}
	}
	return s.String()
}

// link leads to the evidence, where there is some.
func (r row) link(clause string, at standing) string {
	if at == unseen || at == kept {
		return at.String()
	}
	return fmt.Sprintf("[%s](%s#%s)", at, r.file(), clause)
}

// evidence is the whole report of the client, as Markdown.
func (r row) evidence() string {
	judged := *r.Result.Report
	for i := range judged.Clients {
		judged.Clients[i].Name, judged.Clients[i].Command = r.Title(), nil // paths of the machine stay out
	}
	f, err := report.Formats.Get("markdown")
	if err != nil {
		return ""
	}
	var s strings.Builder
	_ = f.Write(&s, judged, report.Style{}) // into memory
	return s.String()
}
