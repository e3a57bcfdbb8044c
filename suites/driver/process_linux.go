package driver

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes give the process a group of its own, and let the kernel kill it when the harness is gone.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// scans is how often it is looked again for survivors where one look may have missed some.
const scans = 30

// survivors finds the living processes that stand in the group or carry the marker or the brand; none of them is older than born.
// A look takes its time: what ends during it may have started something that was not in the list yet, so that finding nothing
// then proves nothing.
func survivors(group int, marker string, b brand, born uint64) left {
	others := map[string]bool{}
	for range scans - 1 {
		if l, sure := scan(group, marker, b, born, others); sure || !l.none() {
			return l
		}
	}
	l, _ := scan(group, marker, b, born, others)
	return l
}

// scan looks once, past the others, and adds to them what it found to belong to nobody here: another look is fast then, and
// faster than what multiplies. It is sure unless a process ended meanwhile that could have been one of those.
func scan(group int, marker string, b brand, born uint64, others map[string]bool) (l left, sure bool) {
	sure = true
	names, _ := processes()
	for _, name := range names {
		if others[name] {
			continue
		}
		pid, _ := strconv.Atoi(name)
		s, ok := statOf(name)
		switch {
		case !ok:
			sure = false // it is gone already
		case s.started < born:
			others[name] = true
		case s.dead():
			sure = sure && s.group != group && !b.on(pid)
		case s.group == group:
			l.group = true
			l.pids = append(l.pids, pid)
		case b.on(pid), marked(pid, marker):
			l.strays = append(l.strays, pid)
			l.pids = append(l.pids, pid)
		default:
			others[name] = true
		}
	}
	return l, sure
}

// processes lists all there are.
func processes() (pids []string, err error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	return slices.DeleteFunc(names, func(name string) bool { return name[0] < '0' || name[0] > '9' }), err
}

// anyRuns reports whether one of the processes is alive. It is cheaper than to look for survivors.
func anyRuns(pids []int) bool {
	return slices.ContainsFunc(pids, func(pid int) bool {
		s, ok := statOf(strconv.Itoa(pid))
		return ok && !s.dead()
	})
}

// stat is what /proc/PID/stat tells of a process.
type stat struct {
	state   byte
	group   int
	started uint64 // in ticks since the machine was; a child's is never less than its parent's
}

// born is when a process that nobody has waited for yet started; 0 if that cannot be read.
func born(pid int) uint64 {
	s, _ := statOf(strconv.Itoa(pid))
	return s.started
}

// dead tells a process that has ended, only nobody has asked for its exit code.
func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// statOf reads a process's state; not ok: it is gone. It is read with no more system calls than it takes, as each client's end
// has all processes looked at.
func statOf(pid string) (s stat, ok bool) {
	fd, err := unix.Open("/proc/"+pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return stat{}, false
	}
	defer unix.Close(fd)
	var room [1024]byte // 52 numbers and a short name
	n, err := unix.Read(fd, room[:])
	if err != nil || n <= 0 {
		return stat{}, false
	}
	return parseStat(room[:n]), true
}

// parseStat takes apart "12 (name) S ppid pgrp ... starttime ...", where the name may hold anything.
func parseStat(text []byte) stat {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 || len(fields[0]) == 0 {
		return stat{state: 'X'}
	}
	group, _ := strconv.Atoi(string(fields[2]))
	started, _ := strconv.ParseUint(string(fields[19]), 10, 64)
	return stat{fields[0][0], group, started}
}

// marked reports whether the process was started with the marker in its environment.
func marked(pid int, marker string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // of another user, or gone
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if string(entry) == marker {
			return true
		}
	}
	return false
}
