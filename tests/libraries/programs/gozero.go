// RedisLock of go-zero.
package main

import (
	"errors"

	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"
)

func main() {
	logx.Disable()
	var stores []*redis.Redis
	for _, address := range addresses {
		stores = append(stores, redis.MustNewRedis(redis.RedisConf{Host: address, Type: "node"}))
	}
	contend(func(number int, work func()) error {
		lock := redis.NewRedisLock(stores[number%2], "busy")
		lock.SetExpire(int(busy().Seconds()))
		for {
			ok, err := lock.Acquire()
			if err != nil {
				return err
			}
			if ok {
				break
			}
			sleep(10)
		}
		work()
		ok, err := lock.Release()
		if err == nil && !ok {
			err = errors.New("it was lost")
		}
		return err
	})
	a, b := redis.NewRedisLock(stores[0], "job"), redis.NewRedisLock(stores[1], "job")
	a.SetExpire(20)
	b.SetExpire(20)
	result := func(ok bool, err error) any {
		if err != nil {
			return err
		}
		return ok
	}
	say("take", result(a.Acquire()))
	say("take again", result(a.Acquire()))
	say("another is refused", result(b.Acquire()))
	say("release of another's", result(b.Release()))
	say("release", result(a.Release()))
	say("release again", result(a.Release()))
	a.SetExpire(0)
	say("take for half a second", result(a.Acquire()))
	sleep(1200)
	say("take what is over", result(b.Acquire()))
	say("release what is over", result(a.Release()))
	say("release it", result(b.Release()))
}
