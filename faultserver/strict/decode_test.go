package strict_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// level is an enum-like word.
type level string

func (l *level) UnmarshalText(text []byte) error {
	known := []string{"minor", "major"}
	for _, k := range known {
		if k == string(text) {
			*l = level(k)
			return nil
		}
	}
	return errors.New("unknown level \"" + string(text) + "\"" + registry.Suggest(string(text), known))
}

// waits validates itself.
type waits struct {
	First time.Duration
	Max   time.Duration
}

func (w waits) Validate(n strict.Node) {
	strict.AtLeast(n, "first", w.First, 0)
	if w.Max < w.First {
		n.At("max").Fail("max %v is below first %v", w.Max, w.First)
	}
}

// words reads a sequence or one word.
type words []string

func (w *words) UnmarshalNode(n strict.Node) {
	if n.Kind() == strict.Text {
		*w = words{n.String()}
		return
	}
	for _, item := range n.Seq() {
		if item.Kind() != strict.Text {
			item.Fail("found %s; want a word", item.Kind())
			continue
		}
		*w = append(*w, item.String())
	}
}

type base struct {
	Name    string `yaml:"name" doc:"what it is called"`
	Summary string
}

// rich has one field of every sort that the decoder knows.
type rich struct {
	base    // unexported embedded: its exported fields count
	Count   int
	Small   int8
	Port    uint16
	Share   float64
	On      bool
	Wait    time.Duration
	Chance  *float64
	Level   level
	Waits   waits
	Later   *waits
	Words   words
	Headers map[string]string
	List    []int
	Nested  []struct{ A, B string }
	Raw     strict.Node
	KeyHTTP string
	Skipped string `yaml:"-"`
}

func decode(t *testing.T, text string) (rich, error) {
	t.Helper()
	var r rich
	err := strict.Decode("f.yaml", []byte(text), &r)
	return r, err
}

func TestDecodeReads(t *testing.T) {
	half := 0.5
	for name, c := range map[string]struct {
		text string
		want rich
	}{
		"embedded struct":     {"name: x\nsummary: y z", rich{base: base{Name: "x", Summary: "y z"}}},
		"numbers":             {"count: -3\nsmall: -128\nport: 65535\nshare: 1e-3", rich{Count: -3, Small: -128, Port: 65535, Share: 0.001}},
		"bool and duration":   {"on: true\nwait: 1m30s", rich{On: true, Wait: 90 * time.Second}},
		"quoted duration":     {`wait: "2s"`, rich{Wait: 2 * time.Second}},
		"negative duration":   {"wait: -2s", rich{Wait: -2 * time.Second}},
		"pointer tells set":   {"chance: 0.5", rich{Chance: &half}},
		"text unmarshaler":    {"level: major", rich{Level: "major"}},
		"node unmarshaler":    {"words: one", rich{Words: words{"one"}}},
		"struct":              {"waits: {first: 1s, max: 2s}", rich{Waits: waits{First: time.Second, Max: 2 * time.Second}}},
		"pointer to struct":   {"later:\n  first: 1s\n  max: 1s", rich{Later: &waits{First: time.Second, Max: time.Second}}},
		"map and list":        {"headers: {A: \"1\", b: c}\nlist:\n- 1\n- 2", rich{Headers: map[string]string{"A": "1", "b": "c"}, List: []int{1, 2}}},
		"list of structs":     {"nested:\n  - a: 1m\n    b: y\n  - {a: z}", rich{Nested: []struct{ A, B string }{{"1m", "y"}, {"z", ""}}}},
		"acronym name":        {"key-http: x", rich{KeyHTTP: "x"}},
		"block scalar":        {"name: |\n  a\n\n  b\nsummary: >\n  c\n  d\n", rich{base: base{Name: "a\n\nb\n", Summary: "c d\n"}}},
		"block scalar, tab":   {"name: |\n  a\n  \tb\n", rich{base: base{Name: "a\n\tb\n"}}},
		"JSON":                {"{\"name\": \"x\\u00e9\\n\", \"list\": [1, 2],\n\t\"on\": false}", rich{base: base{Name: "xé\n"}, List: []int{1, 2}}},
		"tight JSON":          {`{"name":"x","list":[1],"waits":{"max":"1s"}}`, rich{base: base{Name: "x"}, List: []int{1}, Waits: waits{Max: time.Second}}},
		"no line at the end":  {"name: >\n  a\n  b", rich{base: base{Name: "a b\n"}}},
		"CRLF":                {"name: x\r\nsummary: y\r\n", rich{base: base{Name: "x", Summary: "y"}}},
		"byte order mark":     {"\ufeffname: x", rich{base: base{Name: "x"}}},
		"document markers":    {"# c\n---\nname: x\n...\n", rich{base: base{Name: "x"}}},
		"empty mapping":       {"{}", rich{}},
		"quoted punctuation":  {"name: '*x &y !z'", rich{base: base{Name: "*x &y !z"}}},
		"number-like in text": {"name: 503-burst\nsummary: 10/1m", rich{base: base{Name: "503-burst", Summary: "10/1m"}}},
		"comment after value": {"name: x # c\n# d\nsummary: y", rich{base: base{Name: "x", Summary: "y"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode(t, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown field":         {"nam: x", `f.yaml:1:1: unknown field "nam"; did you mean name?`},
		"unknown field, deep":   {"waits:\n  frist: 1s", `f.yaml:2:3: unknown field "frist"; did you mean first?`},
		"unknown field in list": {"nested:\n- c: x", `f.yaml:2:3: unknown field "c"; did you mean a or b?`},
		"duplicate key":         {"name: x\nsummary: y\nname: z", `f.yaml:3:1: "name" stands here a second time; the first is on line 1, column 1`},
		"duplicate in map":      {"headers: {A: x, A: y}", `f.yaml:1:17: "A" stands here a second time; the first is on line 1, column 11`},
		"text for number":       {"count: many", `f.yaml:1:8: found the text "many"; want a whole number such as 3`},
		"quoted number":         {`count: "3"`, `f.yaml:1:8: found the text "3"; want a whole number such as 3`},
		"fraction for whole":    {"count: 1.5", `f.yaml:1:8: found the number 1.5; want a whole number such as 3`},
		"octal":                 {"count: 010", `f.yaml:1:8: found the number 010; want a whole number such as 3`},
		"hex":                   {"count: 0x10", `f.yaml:1:8: found the text "0x10"; want a whole number such as 3`},
		"out of range":          {"small: 128", `f.yaml:1:8: 128 is out of range; want -128 to 127`},
		"negative unsigned":     {"port: -1", `f.yaml:1:7: -1 is out of range; want 0 to 65535`},
		"huge":                  {"count: 99999999999999999999", `f.yaml:1:8: 99999999999999999999 is out of range; want -9223372036854775808 to 9223372036854775807`},
		"float overflow":        {"share: 1e999", `f.yaml:1:8: 1e999 is out of range for a number`},
		"infinity":              {"share: .inf", `f.yaml:1:8: found the text ".inf"; want a number such as 0.5`},
		"number for text":       {"name: 503", `f.yaml:1:7: found the number 503; want text, so write "503" with the quotes`},
		"bool for text":         {"name: true", `f.yaml:1:7: found true; want text, so write "true" with the quotes`},
		"mapping for text":      {"name: {a: b}", `f.yaml:1:7: found a mapping; want text`},
		"yes for bool":          {"on: yes", `f.yaml:1:5: found the text "yes"; want true or false`},
		"capital bool":          {"on: True", `f.yaml:1:5: found the text "True"; want true or false`},
		"no unit":               {"wait: 3", `f.yaml:1:7: 3 has no unit; write 3s or 3ms`},
		"no unit, zero":         {"wait: 0", `f.yaml:1:7: 0 has no unit; write 0s or 0ms`},
		"no unit, quoted":       {"wait: '3'", `f.yaml:1:7: "3" has no unit; write 3s or 3ms`},
		"days":                  {"wait: 3d", `f.yaml:1:7: "3d" is not a duration such as 1.5s or 2m; write days as hours, 3 days as 72h`},
		"list for duration":     {"wait: [1s]", `f.yaml:1:7: found a sequence; want a duration such as 1.5s or 2m`},
		"duration overflow":     {"wait: 9999999h", `f.yaml:1:7: "9999999h" is not a duration such as 1.5s or 2m (units ms s m h, at most about 290 years)`},
		"null":                  {"name:\ncount: 1", `f.yaml:1:6: no value; write one or leave the field out`},
		"written null":          {"waits: null", `f.yaml:1:8: no value; write one or leave the field out`},
		"null pointer":          {"chance: ~", `f.yaml:1:9: no value; write one or leave the field out`},
		"enum":                  {"level: majr", `f.yaml:1:8: unknown level "majr"; did you mean major?`},
		"enum, mapping":         {"level: {}", `f.yaml:1:8: found a mapping; want one word or value`},
		"own decoding":          {"words: [a, 1]", `f.yaml:1:12: found a number; want a word`},
		"validate":              {"waits:\n  first: -1s", `f.yaml:2:10: first: -1s is too small; want at least 0s`},
		"validate, left out":    {"waits: {first: 2s}", `f.yaml:1:8: max 0s is below first 2s`},
		"scalar for struct":     {"waits: 3s", `f.yaml:1:8: found the text "3s"; want a mapping with first or max`},
		"scalar for list":       {"list: 3", `f.yaml:1:7: found the number 3; want a sequence such as [a, b]`},
		"scalar for map":        {"headers: x", `f.yaml:1:10: found the text "x"; want a mapping`},
		"root is a list":        {"- a", `f.yaml:1:1: found a sequence; want a mapping with `},
		"root is a word":        {"abc", `f.yaml:1:1: found the text "abc"; want a mapping with `},
		"unicode column":        {"{name: é, nam: x}", `f.yaml:1:11: unknown field "nam"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode(t, c.text)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one error:\n%v", err)
			}
		})
	}
}

func TestAllErrorsInOrder(t *testing.T) {
	_, err := decode(t, "count: x\nwaits: {first: -1s, nope: 1}\nnam: 1\nlist: [1, a, 2, b]\nwait: 5\n")
	want := strings.Join([]string{
		`f.yaml:1:8: found the text "x"; want a whole number such as 3`,
		`f.yaml:2:16: first: -1s is too small; want at least 0s`,
		`f.yaml:2:21: unknown field "nope"; known: first, max`,
		`f.yaml:3:1: unknown field "nam"; did you mean name?`,
		`f.yaml:4:11: found the text "a"; want a whole number such as 3`,
		`f.yaml:4:17: found the text "b"; want a whole number such as 3`,
		`f.yaml:5:7: 5 has no unit; write 5s or 5ms`,
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	var all *strict.Errors
	var one strict.Error
	if !errors.As(err, &all) || len(all.All) != 7 || !errors.As(err, &one) || one.Line != 1 || one.Value != "x" {
		t.Errorf("errors cannot be taken apart: %#v", err)
	}
}
