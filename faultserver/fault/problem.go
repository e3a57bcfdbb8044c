package fault

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// Problem is the body of an answer as RFC 9457 has it (application/problem+json). The status goes in by itself.
type Problem struct {
	Type     string `yaml:"type" json:"type,omitempty" doc:"URI that names the kind of problem; default about:blank, which goes without saying"`
	Title    string `yaml:"title" json:"title" doc:"default the text of the status"`
	Status   int    `yaml:"-" json:"status"`
	Detail   string `yaml:"detail" json:"detail,omitempty" doc:"what is wrong with this request"`
	Instance string `yaml:"instance" json:"instance,omitempty" doc:"URI that names this occurrence"`

	// Violated is what draft-ietf-httpapi-ratelimit-headers adds to problems of too many requests.
	Violated []string `yaml:"violated-policies" json:"violated-policies,omitempty" doc:"names of the RateLimit-Policy limits that were reached"`
}

// document writes the problem down for an answer with this status.
func (p Problem) document(code int) string {
	p.Status = code
	if p.Title == "" {
		p.Title = title(code)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(p) // strings always can be
	return b.String()
}

// bareProblem is the document of the zero Problem. No title has a character that JSON would escape.
func bareProblem(code int) string {
	return `{"title":"` + title(code) + `","status":` + strconv.Itoa(code) + "}\n"
}

func title(code int) string {
	if text := http.StatusText(code); text != "" {
		return text
	}
	return "Status " + strconv.Itoa(code)
}
