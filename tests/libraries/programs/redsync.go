// redsync over go-redis, redigo or rueidis.
package main

import (
	"os"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	rueidispool "github.com/go-redsync/redsync/v4/redis/rueidis"
	redigolib "github.com/gomodule/redigo/redis"
	goredislib "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

func pool(address string) redis.Pool {
	switch os.Getenv("POOL") {
	case "redigo":
		return redigo.NewPool(&redigolib.Pool{Dial: func() (redigolib.Conn, error) {
			return redigolib.Dial("tcp", address)
		}})
	case "rueidis":
		client, err := rueidis.NewClient(rueidis.ClientOption{
			InitAddress: []string{address}, DisableCache: true, ForceSingleClient: true})
		check(err)
		return rueidispool.NewPool(rueidiscompat.NewAdapter(client))
	}
	return goredis.NewPool(goredislib.NewClient(&goredislib.Options{Addr: address}))
}

func main() {
	one, other := redsync.New(pool(addresses[0])), redsync.New(pool(addresses[1]))
	contend(func(number int, work func()) error {
		mutex := []*redsync.Redsync{one, other}[number%2].NewMutex("busy",
			redsync.WithTries(1000), redsync.WithExpiry(busy()), redsync.WithRetryDelay(10*time.Millisecond))
		if err := mutex.Lock(); err != nil {
			return err
		}
		work()
		_, err := mutex.Unlock()
		return err
	})
	options := []redsync.Option{redsync.WithTries(2), redsync.WithExpiry(20 * time.Second),
		redsync.WithRetryDelay(50 * time.Millisecond)}
	a, b := one.NewMutex("job", options...), other.NewMutex("job", options...)
	did := func(ok bool, err error) any {
		if err != nil && !ok {
			return "refused"
		}
		return ok
	}
	refused := func(err error) any { return did(err == nil, err) }
	say("take", refused(a.Lock()))
	say("another tries", refused(b.TryLock()))
	say("another is refused", refused(b.Lock()))
	say("extend", did(a.Extend()))
	say("another extends", did(b.Extend()))
	say("release of another's", did(b.Unlock()))
	say("release", did(a.Unlock()))
	say("release again", did(a.Unlock()))
	short := one.NewMutex("job", redsync.WithExpiry(300*time.Millisecond))
	say("take for a while", refused(short.Lock()))
	sleep(500)
	say("extend what is over", did(short.Extend()))
	say("take what is over", refused(b.Lock()))
	say("release it", did(b.Unlock()))
	set := one.NewMutex("job", redsync.WithSetNXOnExtend(), redsync.WithExpiry(5*time.Second))
	say("take", refused(set.Lock()))
	say("extend", did(set.Extend()))
	say("release", did(set.Unlock()))
}
