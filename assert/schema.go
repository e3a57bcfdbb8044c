package assert

import (
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// Schema is the JSON Schema of contract files, for editors to complete and check as one types.
func Schema() map[string]any { return strict.Schema(sections{}) }

// part is a piece of a schema.
type part = map[string]any

func words(names []string) part { return part{"enum": names} }

func oneOf(parts ...any) part { return part{"oneOf": parts} }

func mapping(properties part) part {
	return part{"type": "object", "additionalProperties": false, "properties": properties}
}

// JSONSchema lists the behaviours.
func (Behaviour) JSONSchema() map[string]any { return words(behaviourNames[:]) }

// JSONSchema lists the choices.
func (Longer) JSONSchema() map[string]any { return words(longerNames[:]) }

// JSONSchema lists the levels.
func (Level) JSONSchema() map[string]any { return words(levelNames[:]) }

// JSONSchema describes how a rate is written.
func (Rate) JSONSchema() map[string]any {
	return part{"type": "string", "pattern": `^[0-9]+/[0-9.a-zµ]+$`, "examples": []string{"10/1m"}}
}

// JSONSchema allows one rate or several.
func (Rates) JSONSchema() map[string]any {
	rate := strict.SchemaPart(Rate{})
	return oneOf(rate, part{"type": "array", "items": rate})
}

// JSONSchema allows a form by name, or one with its size.
func (Jitter) JSONSchema() map[string]any {
	return oneOf(
		words([]string{"any", "none", "full", "equal", "decorrelated"}),
		mapping(part{"proportional": part{"type": "number", "minimum": 0, "maximum": 1}}),
		mapping(part{"additive": part{"type": "string", "examples": []string{"100ms"}}}),
	)
}

// JSONSchema describes the table from statuses to behaviours.
func (Responses) JSONSchema() map[string]any {
	behaviour := strict.SchemaPart(Behaviour(0))
	key := `([1-5][0-9x-]+|` + strings.Join(networkKeys(), "|") + `)`
	long := mapping(part{"retry": behaviour, "retry-after": words([]string{"honour", "ignore"})})
	return part{
		"type": "object", "description": "statuses (503), ranges (500-504), classes (5xx), lists of them, network and its classes",
		"propertyNames":        part{"pattern": `^\s*` + key + `(\s*,\s*` + key + `)*\s*$`},
		"additionalProperties": oneOf(behaviour, long),
	}
}

// JSONSchema lists the clauses, each with its parameters.
func (settings) JSONSchema() map[string]any {
	properties := part{}
	for _, kind := range Kinds.All() {
		tuned := strict.SchemaPart(kind.example())
		tuned["properties"].(part)["level"] = strict.SchemaPart(Level(0))
		properties[kind.ID] = part{"description": kind.Summary, "oneOf": []any{words([]string{"on", "off"}), tuned}}
	}
	return mapping(properties)
}

// JSONSchema describes the bounds of a call, each of which may be unlimited.
func (Attempts) JSONSchema() map[string]any {
	return mapping(part{"max": orUnlimited(part{"type": "integer", "minimum": 1}), "within": orUnlimited(strict.SchemaPart(time.Duration(0)))})
}

// JSONSchema describes the bound on Retry-After and what lies beyond it.
func (RetryAfter) JSONSchema() map[string]any {
	return mapping(part{"max": orUnlimited(strict.SchemaPart(time.Duration(0))), "longer": strict.SchemaPart(Longer(0))})
}

func orUnlimited(bound part) part { return oneOf(bound, words([]string{unlimited})) }

// JSONSchema describes a month or a day.
func (asOf) JSONSchema() map[string]any {
	return part{"type": "string", "pattern": `^\d{4}-\d{2}(-\d{2})?$`, "examples": []string{"2026-11", "2026-11-30"}}
}
