package assert

import "github.com/retrygate/retrygate/faultserver/strict"

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
	long := mapping(part{"retry": behaviour, "retry-after": words([]string{"honour", "ignore"})})
	return part{
		"type": "object", "description": "statuses (503), ranges (500-504), classes (5xx), lists of them, and network",
		"propertyNames":        part{"pattern": `^\s*([1-5][0-9x-]+|network)(\s*,\s*([1-5][0-9x-]+|network))*\s*$`},
		"additionalProperties": oneOf(behaviour, long),
	}
}

// JSONSchema lists the clauses. Their parameters are checked by the loader only.
func (settings) JSONSchema() map[string]any {
	properties := part{}
	for _, kind := range Kinds.All() {
		tuned := part{"type": "object", "properties": part{"level": strict.SchemaPart(Level(0))}}
		properties[kind.ID] = part{"description": kind.Summary, "oneOf": []any{words([]string{"on", "off"}), tuned}}
	}
	return mapping(properties)
}
