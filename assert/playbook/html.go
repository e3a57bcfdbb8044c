package playbook

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/retrygate/retrygate/assert/report"
)

func init() {
	register(Format{Name: "html", Summary: "a page that needs nothing else, to be sent to a client's owner", Write: writeHTML})
}

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"clean": report.Clean, "shares": Client.shares, "where": Client.where, "facts": Client.facts, "alert": Alert.text, "witness": witness,
	"first": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
}).Parse(pageHTML))

func writeHTML(w io.Writer, f Findings, _ report.Style) error {
	return page.Execute(w, struct {
		Findings
		Heading, Conclusion string
	}{f, f.heading(), f.Conclusion()})
}
