package interop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/retrygate/retrygate/faultserver/strict"
	"github.com/retrygate/retrygate/suites/driver"
)

// languageFile is what makes a folder a language.
const languageFile = "language.yaml"

// Language is one folder of clients: what they need, how they are installed and how they are run. In commands, {{dir}} is
// the language's folder, {{build}} the folder for what is installed, {{client}} the client's name, {{method}} a request's
// method, {{url}} the server's address and {{results}} the folder for results.
type Language struct {
	Name  string     `yaml:"language"`
	Needs []string   `yaml:"needs"`  // programs of the machine, without any of which the language is skipped whole
	Locks []string   `yaml:"locks"`  // files, or patterns of them, that pin what is fetched, and those that are compiled with it
	Fetch [][]string `yaml:"fetch"`  // commands that install what the locks pin, one after the other
	Run   []string   `yaml:"run"`    // the command of a client that names none of its own
	Serve []string   `yaml:"worker"` // the command of a client that makes a call for each line it reads, for all clients of a run
	Judge []string   `yaml:"judge"`  // a command that judges all clients by itself, in place of Run
	Slow  bool       `yaml:"slow"`   // a client takes a good part of a second to start: most cases are left out of the tests

	ID      string   `yaml:"-"` // the folder's name
	Dir     string   `yaml:"-"`
	Build   string   `yaml:"-"`
	Clients []Client `yaml:"-"` // by name
}

// Languages reads all folders of languages under dir, in the order of their names.
func Languages(dir string) ([]Language, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", languageFile))
	if err != nil {
		return nil, err
	}
	var all []Language
	var errs []error
	for _, f := range files {
		l, err := ReadLanguage(filepath.Dir(f))
		all, errs = append(all, l), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// ReadLanguage reads one folder of a language with its clients.
func ReadLanguage(dir string) (Language, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Language{}, err
	}
	l := Language{ID: filepath.Base(dir), Dir: dir, Build: filepath.Join(filepath.Dir(dir), "build", filepath.Base(dir))}
	if err := read(filepath.Join(dir, languageFile), &l); err != nil {
		return l, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"+clientSuffix))
	if err != nil {
		return l, err
	}
	var errs []error
	for _, f := range files {
		c := Client{ID: strings.TrimSuffix(filepath.Base(f), clientSuffix), Language: l.ID}
		errs = append(errs, read(f, &c))
		l.Clients = append(l.Clients, c)
	}
	return l, errors.Join(errs...)
}

// read decodes a file strictly; errors name it as it is called in the tree.
func read(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return strict.Decode(filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file)), data, into)
}

// Missing says which of the language's tools the machine lacks; "" if none.
func (l Language) Missing() string {
	var absent []string
	for _, tool := range l.Needs {
		if _, err := exec.LookPath(tool); err != nil {
			absent = append(absent, tool)
		}
	}
	if len(absent) == 0 {
		return ""
	}
	return "the machine lacks " + strings.Join(absent, " and ")
}

// Unfetched says why what the clients need is not there; "" if it is. Whatever the locks said when it was fetched must be
// what they say now.
func (l Language) Unfetched() string {
	if len(l.Fetch) == 0 {
		return ""
	}
	now, err := l.locked()
	if err != nil {
		return err.Error()
	}
	then, err := os.ReadFile(l.stamp())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "its packages were not fetched: make interop fetches them"
	case err != nil:
		return err.Error()
	case string(then) != now:
		return "its packages or its programs are others by now: make interop fetches and builds them"
	}
	return ""
}

// command fills in a command of the language.
func (l Language) command(argv []string, also ...string) []string {
	fill := strings.NewReplacer(append([]string{"{{dir}}", l.Dir, "{{build}}", l.Build}, also...)...)
	filled := make([]string, len(argv))
	for i, word := range argv {
		filled[i] = fill.Replace(word)
	}
	return filled
}

// argv is how client c is run with a method, with the words that are left to be filled in.
func (l Language) argv(c Client) []string {
	if len(c.Command) > 0 {
		return c.Command
	}
	return l.Run
}

// Driver is client c as the driver runs it: a command for one call with a method.
func (l Language) Driver(c Client, method string) driver.Client {
	return driver.Command(l.command(l.argv(c), "{{client}}", c.ID, "{{method}}", method)...)
}

// Worker is client c as the contract judges it where that is not what Driver returns: one process makes the calls of all
// clients of a scenario. nil: there is no such thing.
func (l Language) Worker(c Client) driver.Client {
	if len(l.Serve) == 0 || len(c.Command) > 0 {
		return nil
	}
	return driver.CommandShared(l.command(l.Serve, "{{client}}", c.ID)...)
}

// client finds one of the language's clients.
func (l Language) client(id string) (Client, error) {
	for _, c := range l.Clients {
		if c.ID == id {
			return c, nil
		}
	}
	return Client{}, fmt.Errorf("%s has no client %s: no file %s", l.ID, id, id+clientSuffix)
}
