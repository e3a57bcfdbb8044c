package faultserver

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/registry"
)

const (
	controlPatience = 30 * time.Second // how long the other end may take to send a head or a body, or to take a piece of an answer
	controlIdle     = 2 * time.Minute
)

// ask is one request to the control API, with its parameters read.
type ask struct {
	w     http.ResponseWriter
	r     *http.Request
	conn  *http.ResponseController
	query query
}

// carryOut reads a request, does what it asks for, and answers. Nothing is done before all of it was found right.
func (c *Control) carryOut(o operation, w http.ResponseWriter, r *http.Request) {
	a := &ask{w: w, r: r, conn: http.NewResponseController(w), query: newQuery()}
	err := a.read(c, o)
	var answer any
	if err == nil {
		answer, err = o.do(c, a)
	}
	a.patience()
	switch {
	case err != nil:
		refused(w, err)
	case answer != nil:
		writeJSON(w, http.StatusOK, mediaJSON, answer)
	}
}

// patience gives the client time to take what is written next.
func (a *ask) patience() { takeBy(a.conn, time.Now().Add(controlPatience)) }

// takeBy and sendBy set deadlines, where the connection has some.
func takeBy(c *http.ResponseController, when time.Time) { _ = c.SetWriteDeadline(when) }
func sendBy(c *http.ResponseController, when time.Time) { _ = c.SetReadDeadline(when) }

// read reads the query, and makes sure that there is no body where none is wanted.
func (a *ask) read(c *Control, o operation) error {
	values, err := url.ParseQuery(a.r.URL.RawQuery)
	if err != nil {
		return refuse(http.StatusBadRequest, "the query cannot be read: %v", err)
	}
	var flaws []flaw
	for _, name := range slices.Sorted(maps.Keys(values)) {
		flaws = append(flaws, a.set(c, o, name, values[name])...)
	}
	if len(flaws) == 0 {
		flaws = a.query.check(o)
	}
	if len(flaws) > 0 {
		return flawed(http.StatusBadRequest, flaws...)
	}
	if o.body {
		return nil
	}
	return a.noBody(o)
}

// set reads one parameter.
func (a *ask) set(c *Control, o operation, name string, values []string) (flaws []flaw) {
	known := make([]string, len(o.parameters))
	for i, p := range o.parameters {
		known[i] = p.name
	}
	i := slices.Index(known, name)
	if i < 0 {
		return []flaw{{Parameter: name, Detail: fmt.Sprintf("unknown parameter %q%s", name, registry.Suggest(name, known))}}
	}
	p := o.parameters[i]
	if len(values) > 1 && !p.many {
		return []flaw{{Parameter: name, Detail: fmt.Sprintf("%s is given %d times; it takes one value", name, len(values))}}
	}
	for _, v := range values {
		if err := p.set(c, &a.query, v); err != nil {
			flaws = append(flaws, flaw{Parameter: name, Detail: fmt.Sprintf("%s: %v", name, err)})
		}
	}
	return flaws
}

func (a *ask) noBody(o operation) error {
	if a.r.ContentLength == 0 {
		return nil
	}
	switch n, err := a.body(1); {
	case err != nil:
		return err
	case len(n) > 0:
		return refuse(http.StatusBadRequest, "%s %s takes no body", o.method, o.path)
	}
	return nil
}

// body reads the request's body, up to limit bytes.
func (a *ask) body(limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(a.r.Body, limit))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refuse(http.StatusRequestTimeout, "the body did not come within %v", controlPatience)
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "the body broke off: %v", err)
	case int64(len(data)) < limit: // all was read, and the answer may take longer than this deadline
		sendBy(a.conn, time.Time{})
	}
	return data, nil
}
