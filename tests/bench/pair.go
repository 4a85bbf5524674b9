// A client in Go that takes a lock and gives it back, again and again; see
// clients.py.
// usage: pair broker|redis PORT SECONDS
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log"
	"os"
	"strconv"
	"time"

	lockbroker "github.com/lockbroker/lockbroker/clients/go"
	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

// byBroker uses the client of this tree.
func byBroker(address string) func() error {
	broker, err := lockbroker.Open(address)
	if err != nil {
		log.Fatal(err)
	}
	return func() error {
		lock, err := broker.Lock(ctx, "pair")
		if err != nil {
			return err
		}
		return lock.Unlock()
	}
}

// byRedis is go-redis with what redsync and others send: SET NX PX, and a script.
func byRedis(port string) func() error {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	release := redis.NewScript("if redis.call('get', KEYS[1]) == ARGV[1] then " +
		"return redis.call('del', KEYS[1]) else return 0 end")
	return func() error {
		token := make([]byte, 16)
		if _, err := rand.Read(token); err != nil {
			return err
		}
		text := hex.EncodeToString(token)
		if ok, err := client.SetNX(ctx, "pair", text, 20*time.Second).Result(); !ok {
			return err
		}
		return release.Run(ctx, client, []string{"pair"}, text).Err()
	}
}

func main() {
	pair := map[string]func(string) func() error{
		"broker": byBroker, "redis": byRedis}[os.Args[1]](os.Args[2])
	seconds, err := strconv.ParseFloat(os.Args[3], 64)
	if err != nil {
		log.Fatal(err)
	}
	do := func() {
		if err := pair(); err != nil {
			log.Fatal(err)
		}
	}
	for i := 0; i < 100; i++ {
		do()
	}
	var took []float64
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for begin := time.Now(); begin.Before(end); {
		do()
		now := time.Now()
		took = append(took, float64(now.Sub(begin).Nanoseconds())/1000)
		begin = now
	}
	if err := json.NewEncoder(os.Stdout).Encode(took); err != nil {
		log.Fatal(err)
	}
}
