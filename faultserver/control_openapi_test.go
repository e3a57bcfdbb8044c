package faultserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// description is an OpenAPI document.
type description map[string]any

// find walks down a document; nil if there is nothing.
func (d description) find(path ...string) any {
	var at any = map[string]any(d)
	for _, step := range path {
		m, _ := at.(map[string]any)
		at = m[step]
	}
	return d.resolve(at)
}

// resolve follows a reference.
func (d description) resolve(at any) any {
	m, _ := at.(map[string]any)
	ref, ok := m["$ref"].(string)
	if !ok {
		return at
	}
	return d.find(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}

// operation finds what a request asks for.
func (d description) operation(request string) map[string]any {
	method, at, _ := strings.Cut(request, " ")
	at, _, _ = strings.Cut(at, "?")
	for path := range d["paths"].(map[string]any) {
		form := "^" + strings.ReplaceAll(regexp.QuoteMeta(path), `\{name\}`, "[^/]+") + "$"
		if regexp.MustCompile(form).MatchString(at) {
			o, _ := d.find("paths", path, strings.ToLower(method)).(map[string]any)
			return o
		}
	}
	return nil
}

// covers holds an answer against what the description says of it.
func (d description) covers(t *testing.T, request string, r reply) {
	t.Helper()
	code := fmt.Sprint(r.status)
	o := d.operation(request)
	if o == nil { // what there is not is refused all the same
		o = map[string]any{"responses": map[string]any{code: d.find("components", "responses", "Problem")}}
	}
	responses := o["responses"].(map[string]any)
	answer, ok := d.resolve(responses[code]).(map[string]any)
	if !ok {
		answer, ok = d.resolve(responses[code[:1]+"XX"]).(map[string]any)
	}
	if !ok {
		t.Errorf("%s: status %s is not described", request, code)
		return
	}
	media := r.header.Get("Content-Type")
	form, ok := answer["content"].(map[string]any)[media].(map[string]any)
	if !ok {
		t.Errorf("%s: status %s with %s is not described", request, code, media)
		return
	}
	if media == "application/x-ndjson" {
		return
	}
	var v any
	if err := json.Unmarshal(r.body, &v); err != nil {
		t.Errorf("%s: %v", request, err)
	}
	for _, wrong := range d.check(form["schema"], v, "answer") {
		t.Errorf("%s: %s", request, wrong)
	}
}

// check holds a value against as much of JSON Schema as the description uses.
func (d description) check(schema, v any, at string) (wrong []string) {
	s, _ := d.resolve(schema).(map[string]any)
	bad := func(format string, args ...any) { wrong = append(wrong, at+" "+fmt.Sprintf(format, args...)) }
	for _, word := range []string{"anyOf", "oneOf"} {
		if forms, ok := s[word].([]any); ok && !slices.ContainsFunc(forms, func(f any) bool { return len(d.check(f, v, at)) == 0 }) {
			bad("%v is none of %s", v, word)
		}
	}
	if kind, ok := s["type"]; ok && !strings.Contains(fmt.Sprint(kind), kindOf(v)) && !(kind == "number" && kindOf(v) == "integer") {
		bad("is of type %s, want %v", kindOf(v), kind)
	}
	switch v := v.(type) {
	case map[string]any:
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				bad("lacks %s", name)
			}
		}
		properties, _ := s["properties"].(map[string]any)
		for name, value := range v {
			if p, ok := properties[name]; ok {
				wrong = append(wrong, d.check(p, value, at+"."+name)...)
			} else if s["type"] == "object" && properties != nil { // stricter than the schema: nothing may go undescribed
				bad("has %s, which is not described", name)
			}
		}
	case []any:
		for i, item := range v {
			wrong = append(wrong, d.check(s["items"], item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	return wrong
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func TestEveryRouteIsDescribed(t *testing.T) {
	piloted(t, func(t *testing.T, _ *world, p *pilot) {
		if v, _ := p.doc["openapi"].(string); !strings.HasPrefix(v, "3.1.") || p.doc.find("info", "title") == nil || p.doc.find("info", "version") == nil {
			t.Errorf("openapi %q, info %v", v, p.doc["info"])
		}
		var described []string
		ids := map[string]bool{}
		for path, operations := range p.doc["paths"].(map[string]any) {
			for method, o := range operations.(map[string]any) {
				request := strings.ToUpper(method) + " " + path
				described = append(described, request)
				o := o.(map[string]any)
				id, _ := o["operationId"].(string)
				if id == "" || ids[id] || o["summary"] == "" {
					t.Errorf("%s: operationId %q, summary %q", request, id, o["summary"])
				}
				ids[id] = true
				parameters, _ := o["parameters"].([]any)
				names := map[string]bool{}
				for _, one := range parameters {
					one := one.(map[string]any)
					name := one["name"].(string)
					if names[name] || one["schema"] == nil || one["description"] == "" || one["in"] == "path" != (one["required"] == true) {
						t.Errorf("%s: parameter %v", request, one)
					}
					names[name] = true
				}
				if strings.Contains(path, "{name}") != names["name"] {
					t.Errorf("%s: the path's name is described: %v", request, names["name"])
				}
			}
		}
		slices.Sort(described)
		if routed := slices.Sorted(slices.Values(p.Routes())); !slices.Equal(described, routed) {
			t.Errorf("described %q\nrouted    %q", described, routed)
		}
		p.doc.resolves(t, map[string]any(p.doc))
	})
}

// resolves fails for references that lead nowhere.
func (d description) resolves(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["$ref"]; ok && d.resolve(v) == nil {
			t.Errorf("%v leads nowhere", v["$ref"])
		}
		for _, inner := range v {
			d.resolves(t, inner)
		}
	case []any:
		for _, inner := range v {
			d.resolves(t, inner)
		}
	}
}

func TestEntriesAreDescribed(t *testing.T) {
	piloted(t, func(t *testing.T, _ *world, p *pilot) {
		e := journal.Entry{
			Seq: 1, At: 1, Took: 1, Gone: 1, Client: "c", Call: "c", Claim: 1, Method: "GET", Path: "/", Query: "q\xff", Key: "k", Precondition: true, Closing: true,
			Auth: 1, BodySum: 1, BodyLen: 1, BodyWhole: true, Early: true, Unprocessed: true, Conn: 1, Proto: "HTTP/1.1", TLS: true, Handshake: "h", Status: 200, RetryAfter: "1", Cut: true, Open: true,
			Rule: "r", Fault: "f", Upstream: 200, Rare: &journal.Rare{
				Sent:  journal.Sent{CallBy: "C", Trace: journal.Trace{1}, Request: 1, Hop: 1, Proxied: true, Range: "bytes=1-", EarlyData: true, Stamp: 1, Marks: "M=1"},
				Told:  journal.Told{Location: "/", Directive: journal.DirectivePushback, RetryAfterMS: "1", Date: "Sun, 06 Nov 1994 08:49:37 GMT"},
				Sends: 2,
			},
		}
		var line strings.Builder
		var v map[string]any
		if err := journal.WriteEntry(&line, e); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(line.String()), &v); err != nil {
			t.Fatal(err)
		}
		schema := p.doc.find("components", "schemas", "Entry").(map[string]any)
		for _, wrong := range p.doc.check(schema, v, "entry") {
			t.Error(wrong)
		}
		v["query"] = "" // it went to raw
		properties := schema["properties"].(map[string]any)
		if diff := slices.Sorted(maps.Keys(properties)); !slices.Equal(diff, slices.Sorted(maps.Keys(v))) {
			t.Errorf("described %q, written %q", diff, slices.Sorted(maps.Keys(v)))
		}
	})
}
