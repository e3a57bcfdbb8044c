//go:build unix && !linux

package driver

import "syscall"

// attributes give the process a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// survivors looks into the group only: without /proc, what got out of it is not found.
func survivors(group int, _ string, _ brand, _ uint64) left {
	return left{group: syscall.Kill(-group, 0) == nil}
}
