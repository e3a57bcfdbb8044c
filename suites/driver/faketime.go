package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver/clock"
)

// FaketimeVariable names libfaketime where it is not in one of the usual places.
const FaketimeVariable = "RETRYGATE_LIBFAKETIME"

// faketimePlaces are where Debian, Fedora and libfaketime's own makefile put the library; * is the machine's name.
var faketimePlaces = []string{
	"/usr/lib/" + multiarch[runtime.GOARCH] + "/faketime/libfaketimeMT.so.1",
	"/usr/lib64/faketime/libfaketimeMT.so.1",
	"/usr/lib/faketime/libfaketimeMT.so.1",
	"/usr/local/lib/faketime/libfaketimeMT.so.1",
}

// multiarch is how Debian's directories name machines.
var multiarch = map[string]string{
	"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu", "riscv64": "riscv64-linux-gnu", "ppc64le": "powerpc64le-linux-gnu",
}

// Faketime finds the library that makes commands' clocks run faster, and proves on the command date that it does so. The
// error says what to do about it.
func Faketime() (library string, err error) { return faketime() }

var faketime = sync.OnceValues(func() (string, error) {
	library, err := findFaketime(os.Getenv(FaketimeVariable), faketimePlaces)
	if err == nil {
		err = proveFaketime(library)
	}
	if err != nil {
		return "", err
	}
	return library, nil
})

func findFaketime(named string, places []string) (string, error) {
	switch {
	case named != "":
		if _, err := os.Stat(named); err != nil {
			return "", fmt.Errorf("%s names no libfaketime: %w", FaketimeVariable, err)
		}
		return filepath.Abs(named)
	case !canFake:
		return "", fmt.Errorf("on %s/%s the clock of a command cannot be made faster; that takes 64-bit Linux with glibc and libfaketime", runtime.GOOS, runtime.GOARCH)
	}
	for _, place := range places {
		if _, err := os.Stat(place); err == nil {
			return place, nil
		}
	}
	return "", fmt.Errorf("libfaketime is not installed; install it (on Debian and Ubuntu: apt-get install faketime), or set %s to where libfaketimeMT.so.1 is",
		FaketimeVariable)
}

// proveFaketime asks date for the time on a clock that is already far ahead of the machine's.
func proveFaketime(library string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c := clock.Fast(1_000_000)
	fake, err := newFake(library, c, "proof."+strconv.Itoa(os.Getpid()))
	if err != nil {
		return err
	}
	defer fake.remove()
	cmd := exec.CommandContext(ctx, "date", "+%s")
	cmd.Env = fake.environment(os.Environ())
	from := c.Now()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: date does not run under it: %w", library, errors.Join(err, ctx.Err()))
	}
	text := strings.TrimSpace(string(out))
	if s, err := strconv.ParseInt(text, 10, 64); err != nil || s < from.Unix() || s > c.Now().Unix() {
		return fmt.Errorf("%s does not make date's clock run as it should: it shows %q, and %d to %d is right; is it another version than 0.9.10?",
			library, text, from.Unix(), c.Now().Unix())
	}
	return nil
}

// fake is a faster clock for one command and all that it starts.
type fake struct {
	library string
	clock   clock.Clock
	began   time.Time // to the second
	name    string
	files   []string
}

// environment is env with what makes programs tell the time by the fake clock. File times stay what they are: programs
// compare them with those that they noted down before.
func (f *fake) environment(env []string) []string {
	if f == nil {
		return env
	}
	kept, preload := make([]string, 0, len(env)+6), f.library
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case name == "LD_PRELOAD" && value != "":
			preload = f.library + ":" + value
		case name != "LD_PRELOAD" && !strings.HasPrefix(name, "FAKETIME"):
			kept = append(kept, v)
		}
	}
	return append(kept,
		"LD_PRELOAD="+preload,
		fmt.Sprintf("FAKETIME=@%d x%d", f.began.Unix(), f.clock.Speed()), "FAKETIME_FMT=%s", "FAKETIME_DONT_RESET=1",
		fmt.Sprintf("FAKETIME_SHARED=/%s /%s", f.name, f.name), "NO_FAKE_STAT=1")
}

// remove takes away what the commands shared, once they have ended.
func (f *fake) remove() {
	if f == nil {
		return
	}
	for _, file := range f.files {
		os.Remove(file)
	}
}
