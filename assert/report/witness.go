package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// A long witness is shown by its first and last rows; the json report has all of them.
const (
	mostRows = 8
	headRows = 5
	tailRows = 2
)

// witness writes the evidence as a table: numbers first and aligned, text that can be long last.
func (p *page) witness(all []Witness) {
	if len(all) == 0 {
		return
	}
	head, tail, left := all, []Witness(nil), 0
	if len(all) > mostRows {
		head, tail, left = all[:headRows], all[len(all)-tailRows:], len(all)-headRows-tailRows
	}
	client := len("client")
	for _, w := range all {
		client = max(client, len(Clean(w.Client)))
	}
	p.line("")
	p.line("%s", p.Dim(fmt.Sprintf("    %5s %11s %9s  %-*s  %s", "#seq", "time", "gap", client, "client", "request -> answer")))
	p.rows(head, client)
	if left > 0 {
		p.line("%s", p.Dim(fmt.Sprintf("    %5s %s", "...", fmt.Sprintf("%d more", left))))
		p.rows(tail, client)
	}
	p.line("")
}

func (p *page) rows(all []Witness, client int) {
	for _, w := range all {
		gap := ""
		if w.GapMS != nil {
			gap = Span(*w.GapMS)
		}
		fixed := fmt.Sprintf("    %5s %9.3f s %9s  %-*s  ", "#"+strconv.FormatUint(w.Seq, 10), w.AtMS/1000, gap, client, Clean(w.Client))
		answer := Answer(w)
		room := max(20, p.width-len(fixed)-len(" -> ")-len(answer))
		p.line("%s%s -> %s", fixed, shorten(Clean(journal.Entry{Method: w.Method, Path: w.Path}.Request()), room), answer)
	}
}

// Answer says in a few words what a request got: "503, Retry-After 2", "reset", "200, cut off".
func Answer(w Witness) string {
	var parts []string
	switch {
	case w.Handshake != "":
		return "TLS: " + Clean(w.Handshake)
	case w.Status != 0 && w.Cut:
		parts = append(parts, strconv.Itoa(w.Status), "cut off")
	case w.Status != 0:
		parts = append(parts, strconv.Itoa(w.Status))
	case w.Left:
		parts = append(parts, "no answer yet")
	case w.Fault != "":
		parts = append(parts, w.Fault)
	default:
		parts = append(parts, "no answer")
	}
	if w.RetryAfter != "" {
		parts = append(parts, "Retry-After "+Clean(w.RetryAfter))
	}
	if w.Left {
		parts = append(parts, "client left")
	}
	return strings.Join(parts, ", ")
}
