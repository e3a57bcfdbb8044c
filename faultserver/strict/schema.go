package strict

import (
	"encoding"
	"reflect"
)

// Described is implemented by types that read themselves; it gives the JSON Schema of what they accept.
type Described interface{ JSONSchema() map[string]any }

// Schema gives the JSON Schema (2020-12) of files that decode into v, for editors to complete and check. A field's
// `doc:"..."` tag becomes its description.
func Schema(v any) map[string]any {
	s := SchemaPart(v)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	return s
}

// SchemaPart is Schema for a part of a file: what JSONSchema methods put together.
func SchemaPart(v any) map[string]any { return schemaOf(reflect.TypeOf(v)) }

func schemaOf(t reflect.Type) map[string]any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	v := reflect.New(t).Interface()
	if own, ok := v.(Described); ok {
		return own.JSONSchema()
	}
	if t == durationType {
		return map[string]any{"type": "string", "pattern": `^-?([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`, "examples": []string{"1.5s", "2m"}}
	}
	switch v.(type) {
	case Unmarshaler, *Node:
		return map[string]any{}
	case encoding.TextUnmarshaler:
		return map[string]any{"type": []string{"string", "number", "boolean"}}
	}
	switch t.Kind() {
	case reflect.Struct:
		return object(t)
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	default:
		return map[string]any{"type": "integer"}
	}
}

func object(t reflect.Type) map[string]any {
	known := fields(t)
	properties := map[string]any{}
	for _, name := range known.names {
		f := t.FieldByIndex(known.index[name])
		s := schemaOf(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			s["description"] = doc
		}
		properties[name] = s
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

// Setting is a field of a struct as files write it, with its `doc:"..."`.
type Setting struct{ Name, Doc string }

// Settings lists the fields that files can set in what v points to, in the order of the struct.
func Settings(v any) (all []Setting) {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	known := fields(t)
	for _, name := range known.names {
		all = append(all, Setting{name, t.FieldByIndex(known.index[name]).Tag.Get("doc")})
	}
	return all
}
