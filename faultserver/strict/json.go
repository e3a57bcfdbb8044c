package strict

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
)

// jsonNumber is a number as JSON spells it; YAML knows more spellings.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// JSON gives the value as JSON: fields in the order of the file, scalars as they were written. "null" for the zero Node.
func (n Node) JSON() json.RawMessage {
	var b bytes.Buffer
	n.t.json(&b)
	return b.Bytes()
}

func (t *tree) json(b *bytes.Buffer) {
	switch {
	case t == nil || t.kind == Null:
		b.WriteString("null")
	case t.kind == Map:
		b.WriteByte('{')
		for i, key := range t.keys {
			comma(b, i)
			quote(b, key.text)
			b.WriteByte(':')
			t.items[i].json(b)
		}
		b.WriteByte('}')
	case t.kind == Seq:
		b.WriteByte('[')
		for i, item := range t.items {
			comma(b, i)
			item.json(b)
		}
		b.WriteByte(']')
	case t.kind == Bool:
		b.WriteString(t.text)
	case t.kind == Number:
		b.WriteString(respell(t.text))
	default:
		quote(b, t.text)
	}
}

func comma(b *bytes.Buffer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

func quote(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)       // a string always encodes
	b.Truncate(b.Len() - 1) // the line's end
}

// respell gives a number as JSON spells it: +1, .5 and 007 it does not know.
func respell(number string) string {
	if jsonNumber.MatchString(number) {
		return number
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return strconv.Quote(number)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
