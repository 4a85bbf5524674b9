//go:build !linux

package lockbroker

import "time"

func sinceBoot() time.Duration {
	return 0
}
