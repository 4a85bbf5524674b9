//go:build !linux

package lockbroker

import "time"

var started = time.Now()

// now is a clock that nobody sets.
func now() time.Duration {
	return time.Since(started)
}
