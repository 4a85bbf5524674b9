// A client of go-redis that takes a lock and gives it back, again and again; see
// tests/bench/pairs.py. usage: program PORT SECONDS
package main

import (
	"encoding/json"
	"os"
	"strconv"
	"time"

	goredislib "github.com/redis/go-redis/v9"
)

var release = goredislib.NewScript("if redis.call('get', KEYS[1]) == ARGV[1] then " +
	"return redis.call('del', KEYS[1]) else return 0 end")

func main() {
	client := goredislib.NewClient(&goredislib.Options{Addr: addresses[0], PoolSize: 1})
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	check(err)
	var took []float64
	begin := time.Now()
	end := begin.Add(time.Duration(seconds * float64(time.Second)))
	for begin.Before(end) {
		token := begin.String()
		check(client.SetNX(ctx, "pair", token, 20*time.Second).Err())
		check(release.Run(ctx, client, []string{"pair"}, token).Err())
		now := time.Now()
		took = append(took, float64(now.Sub(begin).Nanoseconds())/1e3)
		begin = now
	}
	check(json.NewEncoder(os.Stdout).Encode(took))
}
