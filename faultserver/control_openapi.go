package faultserver

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// describe answers with the OpenAPI description of this API.
func (c *Control) describe(*ask) (any, error) {
	paths := map[string]map[string]any{}
	for _, o := range operations() {
		if paths[o.path] == nil {
			paths[o.path] = map[string]any{}
		}
		paths[o.path][strings.ToLower(o.method)] = o.describe()
	}
	security := []any{map[string]any{"token": []string{}}}
	if !c.guarded {
		security = append(security, map[string]any{}) // a token does no harm where none is wanted
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "retrygate control API", "version": "1",
			"description": "Drives a fault server: which faults clients meet, and what came of it. What is wrong with a request is told as " +
				"application/problem+json (RFC 9457), all of it at once, and changes nothing.",
			"license": map[string]any{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []any{map[string]any{"url": "/"}},
		"security": security,
		"paths":    paths,
		"components": map[string]any{
			"securitySchemes": map[string]any{"token": map[string]any{
				"type": "http", "scheme": "bearer", "description": "asked for where other machines can reach this API",
			}},
			"schemas": map[string]any{
				"Plan": strict.SchemaPart(Plan{}), "Entry": entrySchema(), "Problem": answerSchema(refusal{}),
			},
			"responses": map[string]any{"Problem": problemAnswer("what is wrong with the request, in errors one by one")},
		},
	}, nil
}

func ref(part, name string) map[string]any {
	return map[string]any{"$ref": "#/components/" + part + "/" + name}
}

func planRef() map[string]any  { return ref("schemas", "Plan") }
func entryRef() map[string]any { return ref("schemas", "Entry") }

// problemAnswer describes a refusal.
func problemAnswer(about string) map[string]any {
	return map[string]any{"description": about, "content": map[string]any{
		"application/problem+json": map[string]any{"schema": ref("schemas", "Problem")},
	}}
}

func (o operation) describe() map[string]any {
	answers := map[string]any{}
	for _, form := range o.answers {
		answers[form.media] = map[string]any{"schema": form.schema}
	}
	responses := map[string]any{"200": map[string]any{"description": o.summary, "content": answers}, "4XX": ref("responses", "Problem")}
	for status, about := range o.refusals {
		responses[strconv.Itoa(status)] = problemAnswer(about)
	}
	d := map[string]any{"operationId": o.id, "summary": o.summary, "responses": responses}
	if o.about != "" {
		d["description"] = o.about
	}
	if parameters := o.describeParameters(); len(parameters) > 0 {
		d["parameters"] = parameters
	}
	if o.body {
		forms := map[string]any{}
		for _, media := range []string{mediaJSON, "application/yaml"} {
			forms[media] = map[string]any{"schema": planRef()}
		}
		d["requestBody"] = map[string]any{"required": true, "content": forms}
	}
	return d
}

func (o operation) describeParameters() (all []any) {
	if strings.Contains(o.path, "{name}") {
		all = append(all, map[string]any{"name": "name", "in": "path", "required": true, "schema": aText, "description": "the scenario's name"})
	}
	for _, p := range o.parameters {
		schema := p.schema
		if p.many {
			schema = map[string]any{"type": "array", "items": schema} // as name=a&name=b, which is how OpenAPI has it by default
		}
		all = append(all, map[string]any{"name": p.name, "in": "query", "description": p.about, "schema": schema})
	}
	return all
}

// answerSchema gives the JSON Schema of what is answered, from the Go type that it is written from: the json tags name
// its fields, and the doc tags describe them.
func answerSchema(v any) map[string]any { return schemaOf(reflect.TypeOf(v)) }

func schemaOf(t reflect.Type) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch own := reflect.Zero(t).Interface().(type) {
	case strict.Described:
		return own.JSONSchema()
	case time.Time:
		return map[string]any{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Struct:
		return objectOf(t)
	default:
		return map[string]any{"type": "integer"} // what answers are made of holds nothing else
	}
}

func objectOf(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		s := schemaOf(f.Type)
		s["description"] = f.Tag.Get("doc")
		properties[name] = s
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
