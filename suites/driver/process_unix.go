//go:build unix

package driver

import "syscall"

// signalGroup sends s to every process in the group that pid leads. A group outlives its leader; where it does not, the
// number cannot have gone to another group in the second that this takes.
func signalGroup(pid int, s syscall.Signal) { _ = syscall.Kill(-pid, s) }

// signalProcess sends s to one process, which may be gone already.
func signalProcess(pid int, s syscall.Signal) { _ = syscall.Kill(pid, s) }
