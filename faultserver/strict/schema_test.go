package strict_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// scope describes itself.
type scope string

func (scope) JSONSchema() map[string]any { return map[string]any{"enum": []string{"call", "client"}} }

func TestSchema(t *testing.T) {
	type inner struct {
		Max uint8 `doc:"how many"`
	}
	type outer struct {
		base
		Wait  time.Duration
		In    *inner
		Per   scope
		Tags  map[string]bool
		Codes []int
		Share float64
		Level level
		Words words
	}
	got, err := json.MarshalIndent(strict.Schema(outer{}), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "$schema": "https://json-schema.org/draft/2020-12/schema",
 "additionalProperties": false,
 "properties": {
  "codes": {
   "items": {
    "type": "integer"
   },
   "type": "array"
  },
  "in": {
   "additionalProperties": false,
   "properties": {
    "max": {
     "description": "how many",
     "minimum": 0,
     "type": "integer"
    }
   },
   "type": "object"
  },
  "level": {
   "type": [
    "string",
    "number",
    "boolean"
   ]
  },
  "name": {
   "description": "what it is called",
   "type": "string"
  },
  "per": {
   "enum": [
    "call",
    "client"
   ]
  },
  "share": {
   "type": "number"
  },
  "summary": {
   "type": "string"
  },
  "tags": {
   "additionalProperties": {
    "type": "boolean"
   },
   "type": "object"
  },
  "wait": {
   "examples": [
    "1.5s",
    "2m"
   ],
   "pattern": "^-?([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$",
   "type": "string"
  },
  "words": {}
 },
 "type": "object"
}`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
}
