package driver

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// watchdog ends what commands have started when the harness dies without a chance to do so (kill -9): a shell outside
// the harness's session, which waits on a pipe that only the harness holds. The kernel's death signal reaches children
// only, not their children. It finds what carries the harness's marker or brand, and so not what was started by somebody
// else on a client's behalf, nor what it has no right to kill.
var watchdog dog

// script ends quietly after a line on its input, and when that ends without one takes away what the clients share and kills
// whatever carries the harness's marker or brand until nothing does.
const script = `read -r line && exit 0
rm -f "/dev/shm/$3".* "/dev/shm/sem.$3".*
round=0
while [ $round -lt 100 ]; do
	round=$((round + 1))
	left=$(grep -lFs -e "$1" /proc/[0-9]*/environ; grep -ls -e "$2" /proc/[0-9]*/limits)
	[ -n "$left" ] || exit 0
	for file in $left; do
		pid=${file#/proc/}
		kill -9 "${pid%/*}"
	done
done`

type dog struct {
	mu    sync.Mutex
	users int
	cmd   *exec.Cmd
	leash io.WriteCloser // nil where there is no shell: then the kernel's signal is all there is
}

// acquire starts the watchdog unless it runs. The last release ends it.
func (d *dog) acquire() (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users == 0 {
		d.start()
	}
	d.users++
	return sync.OnceFunc(d.release)
}

func (d *dog) start() {
	d.cmd = exec.Command("/bin/sh", "-c", script, "retrygate-watchdog", markerName+harness+".",
		fmt.Sprintf("^%s  *%d[0-9]\\{5\\} ", brandLine, realm), "retrygate-"+harness)
	d.cmd.Env = []string{"PATH=/usr/bin:/bin"}
	d.cmd.Dir = "/"
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	leash, err := d.cmd.StdinPipe()
	if err == nil && d.cmd.Start() == nil {
		d.leash = leash
	}
}

func (d *dog) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users > 0 {
		return
	}
	if d.leash == nil {
		return
	}
	_, _ = io.WriteString(d.leash, "done\n") // a watchdog that is gone needs no word
	_ = d.leash.Close()
	_ = d.cmd.Wait() // it has nothing to report
	d.leash = nil
}
