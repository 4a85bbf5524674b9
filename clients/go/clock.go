package lockbroker

import (
	"sync/atomic"
	"time"
)

var (
	started = time.Now()
	booted  = sinceBoot()
	apart   atomic.Int64 // of the time of day and the clock of package time
	asleep  atomic.Int64 // so long the host was suspended
)

// now is a clock that nobody sets. The one of package time stands still while the
// host is suspended, and another that does not costs a system call; so that is
// asked only when the time of day has moved against the first.
func now() time.Duration {
	at := time.Now()
	awake := at.Sub(started)
	moved := at.UnixNano() - int64(awake) - apart.Load()
	if moved > 20e6 || moved < -20e6 {
		apart.Add(moved)
		if boot := sinceBoot(); boot != 0 {
			slept := int64(boot - booted - awake)
			for was := asleep.Load(); slept > was; was = asleep.Load() {
				if asleep.CompareAndSwap(was, slept) {
					break
				}
			}
		}
	}
	return awake + time.Duration(asleep.Load())
}
