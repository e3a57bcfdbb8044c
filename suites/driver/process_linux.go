package driver

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// attributes give the process a group of its own, and let the kernel kill it when the harness is gone.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// survivors finds the living processes that stand in the group or carry the marker.
func survivors(group int, marker string) left {
	var l left
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue // it is gone already
		}
		switch state, pgrp := parseStat(stat); {
		case state == 'Z' || state == 'X': // dead, only nobody has asked for its exit code
		case pgrp == group:
			l.group = true
		case marked(dir, marker):
			pid, _ := strconv.Atoi(filepath.Base(dir))
			l.strays = append(l.strays, pid)
		}
	}
	return l
}

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
