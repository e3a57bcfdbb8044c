package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/assert/report"
)

// junit is written by Ginkgo and so is no format of package report.
const junit = "junit"

// formatNames lists what --report takes.
func formatNames() []string {
	names := append(report.Formats.Names(), junit)
	slices.Sort(names)
	return names
}

// destination is one --report FORMAT=FILE; without a file it goes to stdout, in place of the text report.
type destination struct {
	format, file string
	out          *os.File
	made         bool // by us: to be removed if nothing comes to be written
}

// destinations is what --report collects.
type destinations struct{ all []*destination }

func (*destinations) Type() string { return "FORMAT[=FILE]" }

func (d *destinations) String() string {
	var words []string
	for _, x := range d.all {
		words = append(words, strings.TrimSuffix(x.format+"="+x.file, "="))
	}
	return strings.Join(words, " ")
}

func (d *destinations) Set(s string) error {
	format, file, named := strings.Cut(s, "=")
	x := &destination{format: format, file: file}
	switch {
	case !slices.Contains(formatNames(), format):
		return unknown("report format", format, formatNames())
	case named && file == "":
		return errors.New("no file after the =")
	case file == "-":
		x.file = ""
	}
	if x.file == "" {
		if format == junit {
			return errors.New("junit needs a file: --report junit=junit.xml")
		}
		if y := d.stdout(); y != nil {
			return fmt.Errorf("%s goes to stdout already; give one of them a file", y.format)
		}
	}
	d.all = append(d.all, x)
	return nil
}

// stdout returns the report that takes the place of the text on stdout, nil if there is none.
func (d *destinations) stdout() *destination {
	for _, x := range d.all {
		if x.file == "" {
			return x
		}
	}
	return nil
}

// junit returns the file for JUnit, "" if none is wanted.
func (d *destinations) junit() string {
	for _, x := range d.all {
		if x.format == junit {
			return x.file
		}
	}
	return ""
}

// open makes sure before the run that every file can be written. What a file held stays until write.
func (d *destinations) open(ctx context.Context) error {
	var errs []error
	for _, x := range d.all {
		if x.file == "" {
			continue
		}
		_, err := os.Stat(x.file)
		x.made = errors.Is(err, os.ErrNotExist)
		x.out, err = until(ctx, func() (*os.File, error) { // a pipe without a reader waits for one
			flags := os.O_WRONLY
			if x.made {
				flags |= os.O_CREATE // not for a pipe that its reader takes away while this waits
			}
			return os.OpenFile(x.file, flags, 0o644)
		})
		var path *os.PathError
		if errors.As(err, &path) {
			err = fmt.Errorf("--report %s=%s: %w", x.format, x.file, path.Err)
		}
		if err == nil {
			err = d.shared(x)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		d.close()
		return err
	}
	return nil
}

// shared refuses a file that another report goes to, under whatever name: they would write over each other.
func (d *destinations) shared(x *destination) error {
	info, err := x.out.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	for _, y := range d.all {
		if y == x || y.out == nil {
			continue
		}
		if other, err := y.out.Stat(); err == nil && os.SameFile(info, other) {
			x.made = false // y removes it
			return fmt.Errorf("--report %s=%s: %s goes there already; give each a file of its own", x.format, x.file, y.format)
		}
	}
	return nil
}

// close lets go of the files and removes those that were made in vain.
func (d *destinations) close() {
	for _, x := range d.all {
		if x.out == nil {
			continue
		}
		x.out.Close()
		if x.made {
			os.Remove(x.file)
		}
		x.out = nil
	}
}

// write writes r to every file and, unless quiet, to stdout.
func (d *destinations) write(w *world, r report.Report, quiet bool) error {
	var errs []error
	for _, x := range d.all {
		if x.file == "" || x.format == junit {
			x.made = false
			continue
		}
		if err := x.write(r); err != nil {
			errs = append(errs, fmt.Errorf("--report %s=%s: %w", x.format, x.file, err))
		}
	}
	errs = append(errs, d.print(w, r, quiet))
	return errors.Join(errs...)
}

func (d *destinations) print(w *world, r report.Report, quiet bool) error {
	if x := d.stdout(); x != nil {
		return emit(w.stdout, x.format, r, report.Style{})
	}
	if quiet {
		_, err := fmt.Fprintln(w.stdout, "verdict: "+r.Conclusion())
		return err
	}
	return emit(w.stdout, "text", r, w.style(w.stdout))
}

func (x *destination) write(r report.Report) error {
	x.made = false
	// A pipe or a device cannot be cut to length, and need not be.
	if info, err := x.out.Stat(); err == nil && info.Mode().IsRegular() {
		if err := x.out.Truncate(0); err != nil {
			return err
		}
	}
	return emit(x.out, x.format, r, report.Style{})
}

func emit(out io.Writer, format string, r report.Report, s report.Style) error {
	f, err := report.Formats.Get(format)
	if err != nil {
		return err
	}
	return f.Write(out, r, s)
}
