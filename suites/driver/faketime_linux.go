package driver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/retrygate/retrygate/faultserver/clock"
)

// canFake: what commands share is laid out as 64-bit glibc and libfaketime 0.9.10 have it.
const canFake = unsafe.Sizeof(uintptr(0)) == 8

const sharedMemory = "/dev/shm/"

// newFake makes a clock for commands that shows exactly what c does. libfaketime reckons from when a program starts, which
// is some machine time too late, many times that on a fast clock, and different for each child; so it is told when c began,
// in the memory (FAKETIME_SHARED) through which it tells the children of a program. Time is told on the clocks of the
// machine, as they are now: it may have been set meanwhile.
func newFake(library string, c clock.Clock, name string) (*fake, error) {
	f := &fake{library: library, clock: c, began: c.Began().Truncate(time.Second), name: "retrygate-" + name}
	sinceBegan := c.Began().Sub(f.began)/time.Duration(c.Speed()) + time.Since(c.Began())
	var shared bytes.Buffer
	put := func(values ...int64) {
		for _, v := range values {
			_ = binary.Write(&shared, binary.NativeEndian, v) // a Buffer takes anything
		}
	}
	put(0, 0) // no ticks, no file of timestamps
	for _, id := range []int32{unix.CLOCK_REALTIME, unix.CLOCK_MONOTONIC, unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_BOOTTIME} {
		var now unix.Timespec
		if err := unix.ClockGettime(id, &now); err != nil {
			return nil, fmt.Errorf("reading the machine's clock %d: %w", id, err)
		}
		start := now.Nano() - int64(sinceBegan)
		put(start/int64(time.Second), start%int64(time.Second))
	}
	if err := f.write(sharedMemory+f.name, shared.Bytes()); err != nil {
		return nil, err
	}
	shared.Reset()
	put(1, 128, 0, 0) // a semaphore that is free and shared by processes
	return f, f.write(sharedMemory+"sem."+f.name, shared.Bytes())
}

func (f *fake) write(file string, data []byte) error {
	err := os.WriteFile(file, data, 0o600)
	f.files = append(f.files, file)
	if err != nil {
		f.remove()
		return fmt.Errorf("a faster clock for commands takes shared memory: %w", errors.Unwrap(err))
	}
	return nil
}
