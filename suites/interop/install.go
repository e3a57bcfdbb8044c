package interop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// fetchLimit bounds one command that installs packages.
const fetchLimit = 8 * time.Minute

// Install fetches what the language's locks pin by its ordinary package manager, unless that was done. The error says why
// there is nothing to run.
func (l Language) Install(ctx context.Context) error {
	if l.Missing() != "" || l.Unfetched() == "" {
		return nil
	}
	if err := errors.Join(os.RemoveAll(l.Build), os.MkdirAll(l.Build, 0o755)); err != nil {
		return err
	}
	for _, argv := range l.Fetch {
		if err := l.fetch(ctx, l.command(argv)); err != nil {
			return err
		}
	}
	now, err := l.locked()
	if err != nil {
		return err
	}
	return os.WriteFile(l.stamp(), []byte(now), 0o644)
}

// fetch runs one command; its error holds the end of what it printed.
func (l Language) fetch(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.WaitDelay = l.Build, time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	lines := strings.Split(string(bytes.TrimSpace(out)), "\n")
	said := strings.Join(lines[max(0, len(lines)-lastLines):], " ")
	return fmt.Errorf("%s: %w: %s", strings.Join(argv[:min(3, len(argv))], " "), err, said)
}

// lastLines of what a package manager prints say what it lacked: some wrap their sentences.
const lastLines = 2

// stamp is the file that says what was installed.
func (l Language) stamp() string { return filepath.Join(l.Build, "fetched") }

// locked sums up what the locks say, and how it is fetched.
func (l Language) locked() (string, error) {
	sum := sha256.New()
	names, err := l.lockFiles()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(data), data)
	}
	fmt.Fprintf(sum, "%q", l.Fetch)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// lockFiles are the names of all files that the locks mean.
func (l Language) lockFiles() (names []string, err error) {
	for _, pattern := range l.Locks {
		files, err := fs.Glob(os.DirFS(l.Dir), pattern)
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("%s has no file %s", l.ID, pattern)
		}
		names = append(names, files...)
	}
	return names, nil
}

// pinned is how far behind a package's name its version may stand in a lock: on the same line or the next.
const pinned = 200

// Unpinned says which clients' versions are not those that the locks pin.
func (l Language) Unpinned() (problems []string) {
	names, err := l.lockFiles()
	if err != nil {
		return []string{err.Error()}
	}
	var all strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			problems = append(problems, err.Error())
		}
		all.Write(data)
	}
	for _, c := range l.Clients {
		if c.Package != "" && !pins(all.String(), c.Package, c.Version) {
			problems = append(problems, fmt.Sprintf("%s: the locks do not pin %s %s", c.ID, c.Package, c.Version))
		}
	}
	return problems
}

// pins reports whether a lock has the version close behind the package's name.
func pins(lock, name, version string) bool {
	for {
		_, behind, found := strings.Cut(lock, name)
		if !found {
			return false
		}
		if strings.Contains(behind[:min(len(behind), pinned)], version) {
			return true
		}
		lock = behind
	}
}
