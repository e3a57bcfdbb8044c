package driver

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
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

// launch starts the command. It is held (traced) from its exec until it carries the brand: what it starts in its first
// instants and leaves behind would never be found. Where tracing is forbidden, it is branded as soon as it runs.
func (p *process) launch() error {
	if privileged(p.cmd.Path) { // which tracing would take from it
		return p.launchFree()
	}
	free := *p.cmd // a command can be started once only
	free.SysProcAttr = attributes()
	p.cmd.SysProcAttr.Ptrace = true
	if p.cmd.Start() != nil {
		p.cmd = exec.Command(free.Args[0], free.Args[1:]...)
		p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = free.Env, free.Stdout, free.Stderr, free.SysProcAttr
		return p.launchFree()
	}
	pid := p.cmd.Process.Pid
	// Looking is enough: how it ended, if it did, is for Wait to take.
	for unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT|unix.WALL, nil) == unix.EINTR {
	}
	p.brand.put(pid)
	_ = unix.PtraceDetach(pid) // it may be gone already
	return nil
}

func (p *process) launchFree() error {
	err := p.cmd.Start()
	if err == nil {
		p.brand.put(p.cmd.Process.Pid)
	}
	return err
}

// privileged reports whether a program runs with rights of its own.
func privileged(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		return true
	}
	n, err := unix.Getxattr(path, "security.capability", nil)
	return err == nil && n > 0
}

// put brands a process. It fails silently where the limit is somebody else's already; then environment and process group
// have to do.
func (b brand) put(pid int) {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit) == nil {
		limit.Cur = uint64(b)
		_ = unix.Prlimit(pid, unix.RLIMIT_RTTIME, &limit, nil)
	}
}

// on reports whether a process carries the brand.
func (b brand) on(pid int) bool {
	var limit unix.Rlimit
	switch err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit); err {
	case nil:
		return limit.Cur == uint64(b)
	case unix.EPERM: // it runs as another user, whose limits may be read all the same
		return b.isWritten(pid)
	default:
		return false // gone
	}
}

// isWritten is on by what /proc shows.
func (b brand) isWritten(pid int) bool {
	limits, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return false // gone
	}
	_, line, _ := bytes.Cut(limits, []byte(brandLine))
	fields := bytes.Fields(line)
	return len(fields) > 0 && string(fields[0]) == strconv.FormatUint(uint64(b), 10)
}
