package lockbroker

import (
	"syscall"
	"time"
	"unsafe"
)

const clockBoottime = 7

var started = time.Now()

var hasBoottime = boottime() != 0

// now is a clock that nobody sets, and that does not stand still while the host
// is suspended, as the one of package time does.
func now() time.Duration {
	if !hasBoottime {
		return time.Since(started)
	}
	return boottime()
}

func boottime() time.Duration {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime,
		uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}
