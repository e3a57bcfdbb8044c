package driver

import (
	"fmt"
	"strings"
	"sync"
)

// keep is how many bytes of each of a command's outputs are kept: the last ones.
const keep = 64 << 10

// Output is what a client printed, the last 64 KiB of each.
type Output struct{ Stdout, Stderr string }

// Last returns up to n lines from the end of what was printed: of stderr if there is anything, else of stdout.
func (o Output) Last(n int) string {
	text := strings.TrimSpace(o.Stderr)
	if text == "" {
		text = strings.TrimSpace(o.Stdout)
	}
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// String returns stdout, then stderr.
func (o Output) String() string {
	if o.Stdout != "" && o.Stderr != "" && !strings.HasSuffix(o.Stdout, "\n") {
		return o.Stdout + "\n" + o.Stderr
	}
	return o.Stdout + o.Stderr
}

// tail keeps the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	bytes []byte
	total int
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += len(p)
	t.bytes = append(t.bytes, p...)
	if len(t.bytes) > 2*keep {
		t.bytes = append(t.bytes[:0], t.bytes[len(t.bytes)-keep:]...)
	}
	return len(p), nil
}

// String returns the end of what was written, and says so if it is not all of it.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.total <= keep {
		return string(t.bytes)
	}
	return fmt.Sprintf("[%d bytes before this were dropped]\n%s", t.total-keep, t.bytes[len(t.bytes)-keep:])
}
