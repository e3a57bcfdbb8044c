package fault

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// RetryAfter is the Retry-After header of an answer, in one of three forms; plans write them 2s, {date: 3s} and
// {raw: "soon"}. See Seconds, Date and Raw.
type RetryAfter struct {
	In   *time.Duration `yaml:"-"`                                                                                            // whole seconds, rounded up: the server keeps its word
	Date *time.Duration `yaml:"date" doc:"sent as the HTTP-date that lies so far ahead, rounded up; in the past if negative"` // counted when the answer is sent
	Form DateForm       `yaml:"form" doc:"how the date is written: imf (default), rfc850 or asctime"`
	Skew time.Duration  `yaml:"skew" doc:"how far the server's clock, which Date and Retry-After are read from, is ahead; behind if negative"`
	Raw  *string        `yaml:"raw" doc:"sent as it stands: junk, fractions, negative numbers, spaces"`
}

// Seconds asks the client to wait, in whole seconds, rounded up.
func Seconds(d time.Duration) *RetryAfter { return &RetryAfter{In: &d} }

// Date asks the client to wait until an HTTP-date, rounded up.
func Date(d time.Duration) *RetryAfter { return &RetryAfter{Date: &d} }

// Raw sends any value.
func Raw(value string) *RetryAfter { return &RetryAfter{Raw: &value} }

// DateForm is how an HTTP-date is written (RFC 9110 5.6.7). Senders use the first; receivers have to read all.
type DateForm string

// The forms.
const (
	IMF     DateForm = "imf"     // Sun, 06 Nov 1994 08:49:37 GMT
	RFC850  DateForm = "rfc850"  // Sunday, 06-Nov-94 08:49:37 GMT
	Asctime DateForm = "asctime" // Sun Nov  6 08:49:37 1994
)

var dateForms = map[DateForm]string{IMF: http.TimeFormat, RFC850: "Monday, 02-Jan-06 15:04:05 GMT", Asctime: time.ANSIC}

var dateFormNames = []DateForm{IMF, RFC850, Asctime}

// UnmarshalText reads the word that plans use.
func (f *DateForm) UnmarshalText(text []byte) error {
	return readWord(f, text, "unknown form of dates", dateFormNames)
}

// JSONSchema lists the words.
func (DateForm) JSONSchema() map[string]any { return wordSchema(dateFormNames) }

// plainRetryAfter is read field by field.
type plainRetryAfter RetryAfter

// UnmarshalNode reads a time, which is sent in seconds, or a mapping.
func (a *RetryAfter) UnmarshalNode(n strict.Node) {
	if n.Kind() == strict.Map {
		n.Decode((*plainRetryAfter)(a))
		return
	}
	a.In = new(time.Duration)
	n.Decode(a.In)
}

// JSONSchema describes what UnmarshalNode accepts.
func (RetryAfter) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{strict.SchemaPart(time.Duration(0)), strict.SchemaPart(plainRetryAfter{})}}
}

// Validate wants one form, and settings that belong to it.
func (a *RetryAfter) Validate(n strict.Node) {
	given := 0
	for _, set := range []bool{a.In != nil, a.Date != nil, a.Raw != nil} {
		if set {
			given++
		}
	}
	switch {
	case n.Failed():
	case given == 0:
		n.Fail(`no Retry-After is given; write it 2s, {date: 3s} or {raw: "soon"}`)
	case given > 1:
		n.Fail("an answer has one Retry-After; keep one of seconds, date and raw")
	case a.In != nil && *a.In < 0:
		n.Fail(`retry-after: %v is too small; to send a negative number, write {raw: "%d"}`, *a.In, seconds(*a.In))
	case a.Raw != nil && !ValidValue(*a.Raw):
		n.At("raw").Fail("the value of Retry-After has a character that no header may hold")
	case a.Date == nil && a.Form != "":
		n.At("form").Fail("form is for dates; give a date, or leave it out")
	case a.Date == nil && a.Skew != 0:
		n.At("skew").Fail("skew is for dates; give a date, or leave it out")
	}
}

// set writes the header, and with a date the Date of the same instant, so that a client whose clock differs can tell how
// far ahead that is. nil writes nothing.
func (a *RetryAfter) set(header http.Header, now time.Time) {
	switch {
	case a == nil:
	case a.In != nil:
		header.Set("Retry-After", strconv.FormatInt(seconds(*a.In), 10))
	case a.Raw != nil:
		header.Set("Retry-After", *a.Raw)
	case a.Date != nil:
		now = now.Add(a.Skew)
		at := now.Add(*a.Date)
		if whole := at.Truncate(time.Second); whole.Before(at) {
			at = whole.Add(time.Second)
		}
		form, ok := dateForms[a.Form]
		if !ok {
			form = http.TimeFormat
		}
		header.Set("Date", now.UTC().Format(http.TimeFormat))
		header.Set("Retry-After", at.UTC().Format(form))
	}
}

// spaced reports whether the value has spaces around it, which net/http would take away.
func (a *RetryAfter) spaced() bool {
	return a != nil && a.Raw != nil && strings.Trim(*a.Raw, " \t") != *a.Raw
}

// seconds rounds up: 1.2 s promised as 1 s would be a lie by 200 ms.
func seconds(d time.Duration) int64 {
	n := int64(d / time.Second)
	if d%time.Second > 0 {
		n++
	}
	return n
}
