package faultserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// refusal is why a request to the control API was not carried out, in the form of RFC 9457. The status says all that a
// program has to tell apart, hence no types of its own.
type refusal struct {
	Type    string   `json:"type" doc:"always about:blank: the status says which problem it is"`
	Title   string   `json:"title" doc:"the status in words"`
	Status  int      `json:"status" doc:"the status again"`
	Detail  string   `json:"detail" doc:"what is wrong, and what to do"`
	Errors  []flaw   `json:"errors,omitempty" doc:"everything that is wrong with the request, each with its place"`
	Reached *reached `json:"reached,omitempty" doc:"how far a wait got until its time was up"`

	header http.Header
}

// flaw is one thing that is wrong, and where.
type flaw struct {
	Detail    string `json:"detail" doc:"what is wrong, and what to do"`
	Pointer   string `json:"pointer,omitempty" doc:"where in the plan, as a JSON Pointer in a URI fragment: #/rules/0/fault"`
	Line      int    `json:"line,omitempty" doc:"where in the plan, from 1"`
	Column    int    `json:"column,omitempty" doc:"where in the line, in characters, from 1"`
	Parameter string `json:"parameter,omitempty" doc:"the query parameter"`
	Header    string `json:"header,omitempty" doc:"the request header"`
}

// Error gives the detail.
func (e *refusal) Error() string { return e.Detail }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// flawed refuses a request for what is wrong with its parts.
func flawed(status int, flaws ...flaw) *refusal {
	e := refuse(status, "%s", flaws[0].Detail)
	if n := len(flaws); n > 1 {
		e.Detail = fmt.Sprintf("%d things are wrong; errors lists them", n)
	}
	e.Errors = flaws
	return e
}

// mostFlaws bounds the answer to a plan of nothing but mistakes.
const mostFlaws = 200

// misread refuses a plan for the mistakes that strict found in it.
func misread(err error) *refusal {
	var found *strict.Errors
	if !errors.As(err, &found) {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	flaws := make([]flaw, 0, min(len(found.All), mostFlaws))
	for _, e := range found.All[:cap(flaws)] {
		pointer := url.URL{Fragment: e.Pointer}
		flaws = append(flaws, flaw{Detail: e.Msg, Pointer: "#" + pointer.EscapedFragment(), Line: e.Line, Column: e.Column})
	}
	refused := flawed(http.StatusBadRequest, flaws...)
	if n := len(found.All); n > mostFlaws {
		refused.Detail = fmt.Sprintf("%d things are wrong; errors lists the first %d", n, mostFlaws)
	}
	return refused
}

// refused answers a request that is not carried out.
func refused(w http.ResponseWriter, err error) {
	var e *refusal
	if !errors.As(err, &e) {
		e = refuse(http.StatusInternalServerError, "%v", err)
	}
	header := w.Header()
	for name, values := range e.header {
		header[name] = values
	}
	writeJSON(w, e.Status, "application/problem+json", e)
}

// writeJSON writes a whole answer.
func writeJSON(w http.ResponseWriter, status int, media string, answer any) {
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	_ = enc.Encode(answer) // only a client that left makes it fail
}
