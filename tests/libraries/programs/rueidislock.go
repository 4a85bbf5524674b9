// rueidislock, which the broker does not serve.
package main

import (
	"fmt"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func main() {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{
			InitAddress: []string{addresses[0]}, DisableCache: true},
		KeyMajority: 1, NoLoopTracking: true})
	check(err)
	said := "served"
	_, release, err := locker.TryWithContext(ctx, "job")
	if err != nil {
		said = err.Error()
	} else {
		release()
	}
	fmt.Println("unserved rueidislock:", said)
}
