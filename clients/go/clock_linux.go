package lockbroker

import (
	"syscall"
	"time"
	"unsafe"
)

const clockBoottime = 7

// sinceBoot is 0 where it can't be had.
func sinceBoot() time.Duration {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime,
		uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}
