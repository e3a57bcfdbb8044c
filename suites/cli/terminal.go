package cli

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// colorMode is the --color flag: auto (the zero value), always or never.
type colorMode string

const (
	colorAuto   colorMode = "auto"
	colorAlways colorMode = "always"
	colorNever  colorMode = "never"
)

var colorModes = []string{string(colorAuto), string(colorAlways), string(colorNever)}

func (c *colorMode) String() string { return string(*c) }
func (*colorMode) Type() string     { return "WHEN" }

func (c *colorMode) Set(s string) error {
	for _, mode := range colorModes {
		if s == mode {
			*c = colorMode(s)
			return nil
		}
	}
	return unknown("colour mode", s, colorModes)
}

// style is how to dress what goes to out. NO_COLOR and TERM=dumb turn colour off unless --color=always asks for it.
func (w *world) style(out io.Writer) report.Style {
	tty, width := terminal(out)
	if columns, err := strconv.Atoi(w.getenv("COLUMNS")); err == nil && columns > 0 && width == 0 {
		width = columns
	}
	on := tty && w.getenv("NO_COLOR") == "" && w.getenv("TERM") != "dumb"
	switch w.color {
	case colorAlways:
		on = true
	case colorNever:
		on = false
	}
	return report.Style{Color: on, Width: width}
}

// terminal tells whether out is a terminal, and its columns if it is.
func terminal(out io.Writer) (is bool, width int) {
	if o, ok := out.(*output); ok {
		out = o.to
	}
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false, 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return true, 0
	}
	return true, width
}

// height is the terminal's lines, 24 if it does not tell.
func height(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if _, lines, err := term.GetSize(int(f.Fd())); err == nil && lines > 0 {
			return lines
		}
	}
	return 24
}

// unknown is the error for a name that does not exist, with the nearest that do.
func unknown(what, name string, known []string) error {
	return &unknownError{what, name, registry.Suggest(name, known)}
}

type unknownError struct{ what, name, hint string }

func (e *unknownError) Error() string {
	return "unknown " + e.what + " " + strconv.Quote(e.name) + e.hint
}

// columns is how wide prose may run: what fits, within what is still good to read.
func columns(s report.Style) int {
	if s.Width == 0 {
		return widest
	}
	return min(max(s.Width, narrowest), widest)
}

const (
	narrowest = 72
	widest    = 100
)
