package driver

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// attributes give the process a group of its own, and let the kernel kill it when the harness is gone.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// scans is how often it is looked again for survivors where one look may have missed some.
const scans = 30

// survivors finds the living processes that stand in the group or carry the marker or the brand. A look takes its time: what
// ends during it may have started something that was not in the list yet, so that finding nothing then proves nothing.
func survivors(group int, marker string, b brand) left {
	others := map[string]bool{}
	for range scans - 1 {
		if l, sure := scan(group, marker, b, others); sure || !l.none() {
			return l
		}
	}
	l, _ := scan(group, marker, b, others)
	return l
}

// scan looks once, past the others, and adds to them what it found to belong to nobody here: another look is fast then, and
// faster than what multiplies. It is sure unless a process ended meanwhile that could have been one of those.
func scan(group int, marker string, b brand, others map[string]bool) (l left, sure bool) {
	sure = true
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if others[dir] {
			continue
		}
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			sure = false // it is gone already
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		switch state, pgrp := parseStat(stat); {
		case dead(state):
			sure = sure && pgrp != group && !b.on(dir)
		case pgrp == group:
			l.group = true
			l.pids = append(l.pids, pid)
		case marked(dir, marker), b.on(dir):
			l.strays = append(l.strays, pid)
			l.pids = append(l.pids, pid)
		default:
			others[dir] = true
		}
	}
	return l, sure
}

// anyRuns reports whether one of the processes is alive. It is cheaper than to look for survivors.
func anyRuns(pids []int) bool {
	return slices.ContainsFunc(pids, func(pid int) bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return false
		}
		state, _ := parseStat(stat)
		return !dead(state)
	})
}

// dead tells a process that has ended, only nobody has asked for its exit code.
func dead(state byte) bool { return state == 'Z' || state == 'X' }

// parseStat reads the state and the process group from /proc/PID/stat: "12 (name) S ppid pgrp ...", where the name may
// hold anything.
func parseStat(stat []byte) (state byte, pgrp int) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 || len(fields[0]) == 0 {
		return 'X', 0
	}
	pgrp, _ = strconv.Atoi(string(fields[2]))
	return fields[0][0], pgrp
}

// marked reports whether the process was started with the marker in its environment.
func marked(dir, marker string) bool {
	env, err := os.ReadFile(dir + "/environ")
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
