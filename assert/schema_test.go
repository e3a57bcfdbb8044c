package assert

import (
	"encoding/json"
	"strings"
	"testing"
)

// Every word that a contract may hold has to be in the schema, so that editors complete it.
func TestSchemaKnowsTheWords(t *testing.T) {
	text, err := json.Marshal(Schema())
	if err != nil {
		t.Fatal(err)
	}
	known := append(behaviourNames[:], longerNames[:]...)
	known = append(known, "name", "profile", "responses", "attempts", "within", "multiplier", "key-header", "client-rate", "network",
		"full", "proportional", "honour", "critical", "off", "schedule", "unlimited", "as-of", "sources")
	known = append(known, networkKeys()...)
	known = append(known, Kinds.Names()...)
	for _, word := range known {
		if !strings.Contains(string(text), word) {
			t.Errorf("%q is not in the schema", word)
		}
	}
	if strings.Contains(string(text), "{}") {
		t.Errorf("a part of the schema says nothing: %s", text)
	}
}
