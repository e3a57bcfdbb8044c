package driver

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// brand tells the processes of one client by something that every child inherits and that hardly anything takes off: the
// soft limit on time under realtime scheduling (RLIMIT_RTTIME), which is unlimited by default and here some hundred
// thousand years, a different number of microseconds for each client. It stays on through env -i, sudo, setsid and
// daemons, it needs no right and no place in the tree of processes, and unlike a subreaper it leaves the children alone
// that the program around this package has of its own. What somebody else starts on the client's behalf (systemd-run,
// cron, a container engine) has none.
type brand uint64

// realm is what the brands of this harness begin with, in decimal. Five digits follow.
var realm = 10_000_000_000_000 + rand.Uint64N(80_000_000_000_000)

// brandLine begins the line of /proc/PID/limits that shows a brand.
const brandLine = "Max realtime timeout"

func newBrand(number uint64) brand { return brand(realm*100_000 + number%100_000) }

// put brands a process that has just been started, and what it has started since. It fails silently where the limit is
// somebody else's already; then environment and process group have to do.
func (b brand) put(pid int) {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit) != nil {
		return
	}
	limit.Cur = uint64(b)
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, &limit, nil) != nil {
		return
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // it has one thread, or is gone
	for _, child := range bytes.Fields(children) {
		if pid, err := strconv.Atoi(string(child)); err == nil {
			b.put(pid)
		}
	}
}

// on reports whether the process whose directory in /proc this is carries the brand.
func (b brand) on(dir string) bool {
	limits, err := os.ReadFile(dir + "/limits")
	if err != nil {
		return false // gone
	}
	_, line, _ := bytes.Cut(limits, []byte(brandLine))
	fields := bytes.Fields(line)
	return len(fields) > 0 && string(fields[0]) == strconv.FormatUint(uint64(b), 10)
}
