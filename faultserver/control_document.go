package faultserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"unicode/utf8"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// planTypes are the media types of plans. Nothing, as curl -T sends it, is taken for YAML, which JSON is too.
var planTypes = map[string]bool{
	"": true, mediaJSON: true, "application/yaml": true, "application/x-yaml": true, "text/yaml": true, "text/x-yaml": true,
}

// document reads a plan's text.
func (a *ask) document() ([]byte, error) {
	media, err := a.mediaType()
	if err != nil {
		return nil, err
	}
	var data []byte
	if a.r.ContentLength <= strict.MaxBytes {
		if data, err = a.body(strict.MaxBytes + 1); err != nil {
			return nil, err
		}
	}
	switch {
	case a.r.ContentLength > strict.MaxBytes || len(data) > strict.MaxBytes:
		a.drain()
		return nil, refuse(http.StatusRequestEntityTooLarge, "the plan is larger than the %d bytes that are read", strict.MaxBytes)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, refuse(http.StatusBadRequest, "the plan is empty; write {\"rules\": [...]}, or DELETE the plan to disturb nothing")
	case media == mediaJSON:
		// Strings of JSON hold no tabs; YAML, as which it is read, takes none outside.
		return bytes.ReplaceAll(data, []byte("\t"), []byte(" ")), brokenJSON(data)
	}
	return data, nil
}

// drain reads the rest of a body that is too large: most clients look at the answer only when they have sent all. Those
// that ask first (Expect: 100-continue) have sent nothing yet.
func (a *ask) drain() {
	if a.r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, a.r.Body, longestDrain)
	}
}

const longestDrain = 64 << 20

func (a *ask) mediaType() (string, error) {
	wrong := func(header, format string, args ...any) error {
		e := flawed(http.StatusUnsupportedMediaType, flaw{Header: header, Detail: fmt.Sprintf(format, args...)})
		e.header = http.Header{"Accept": {mediaJSON + ", application/yaml"}}
		return e
	}
	if coding := a.r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return "", wrong("Content-Encoding", "a plan is sent as it is, without Content-Encoding %q", coding)
	}
	given := a.r.Header.Get("Content-Type")
	if given == "" {
		return "", nil
	}
	media, parameters, err := mime.ParseMediaType(given)
	if err != nil || !planTypes[media] {
		return "", wrong("Content-Type", "Content-Type %q is not one of a plan; send application/json or application/yaml", given)
	}
	if charset := parameters["charset"]; charset != "" && !utf8Names[charset] {
		return "", wrong("Content-Type", "a plan is UTF-8 text, not %s", charset)
	}
	return media, nil
}

var utf8Names = map[string]bool{"utf-8": true, "UTF-8": true, "utf8": true}

// brokenJSON finds the place where a text stops being JSON. YAML, as which it is read, would forgive some of that.
func brokenJSON(data []byte) error {
	err := json.Unmarshal(data, new(json.RawMessage))
	var syntax *json.SyntaxError
	if err == nil {
		return nil
	}
	if !errors.As(err, &syntax) {
		return refuse(http.StatusBadRequest, "not valid JSON: %v", err)
	}
	before := data[:max(0, min(int(syntax.Offset)-1, len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return flawed(http.StatusBadRequest, flaw{Detail: "not valid JSON: " + err.Error(), Pointer: "#", Line: line, Column: column})
}
