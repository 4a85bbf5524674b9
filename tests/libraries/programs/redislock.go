// bsm/redislock over go-redis.
package main

import (
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

func main() {
	var clients []*redislock.Client
	for _, address := range addresses {
		clients = append(clients, redislock.New(redis.NewClient(&redis.Options{Addr: address})))
	}
	one, other := clients[0], clients[1]
	contend(func(number int, work func()) error {
		lock, err := clients[number%2].Obtain(ctx, "busy", busy(), &redislock.Options{
			RetryStrategy: redislock.LinearBackoff(10 * time.Millisecond)})
		if err != nil {
			return err
		}
		work()
		return lock.Release(ctx)
	})
	result := func(err error) any {
		if err != nil {
			return err
		}
		return "done"
	}
	lock, err := one.Obtain(ctx, "job", 20*time.Second, nil)
	say("take", result(err))
	_, err = other.Obtain(ctx, "job", 20*time.Second, nil)
	say("another is refused", result(err))
	_, err = other.Obtain(ctx, "job", 20*time.Second, &redislock.Options{
		RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(20*time.Millisecond), 3)})
	say("another waits in vain", result(err))
	ttl, err := lock.TTL(ctx)
	say("time", err == nil && ttl > 10*time.Second)
	say("extend", result(lock.Refresh(ctx, 30*time.Second, nil)))
	say("release", result(lock.Release(ctx)))
	say("release again", result(lock.Release(ctx)))
	short, err := one.Obtain(ctx, "job", 200*time.Millisecond, nil)
	say("take for a while", result(err))
	sleep(400)
	say("extend what is over", result(short.Refresh(ctx, time.Second, nil)))
	ttl, err = short.TTL(ctx)
	say("time of what is over", ttl)
	same, err := other.Obtain(ctx, "job", 20*time.Second, &redislock.Options{
		Token: "0123456789012345678901"})
	say("take by a token", result(err))
	_, err = one.Obtain(ctx, "job", 20*time.Second, &redislock.Options{
		Token: "0123456789012345678901"})
	say("take by it again", result(err))
	say("release it", result(same.Release(ctx)))
}
