// The driver of the conformance story for the client in Go.
// usage: driver ADDRESSES [grace]
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	lockbroker "github.com/lockbroker/lockbroker/clients/go"
)

var mutex sync.Mutex

func say(words ...any) {
	mutex.Lock()
	defer mutex.Unlock()
	fmt.Println(words...)
}

// code is what the story calls an error.
func code(err error) string {
	var refused *lockbroker.Error
	switch {
	case errors.Is(err, lockbroker.ErrLost):
		return "lost"
	case errors.As(err, &refused):
		return refused.Code
	}
	return "failed"
}

// A block holds a lock until it is told to end.
type block struct {
	lock *lockbroker.Lock
	end  chan struct{}
}

func (b *block) takeLock(broker *lockbroker.Broker, number string, names []string,
	opts ...lockbroker.Option) {
	last := len(names) - 1
	if _, value, ok := strings.Cut(names[last], "="); ok {
		opts = append(opts, lockbroker.Value(value))
		names = names[:last]
	}
	opts = append(opts, lockbroker.Names(names[1:]...))
	b.ends(number, broker.Do(context.Background(), names[0], b.holds(number), opts...))
}

func (b *block) takeSlot(broker *lockbroker.Broker, number string, words []string,
	opts ...lockbroker.Option) {
	limit, err := strconv.Atoi(words[1])
	if err != nil {
		log.Fatal(err)
	}
	opts = append(opts, lockbroker.Slot())
	b.ends(number, broker.Semaphore(words[0], limit).Do(context.Background(),
		b.holds(number), opts...))
}

func (b *block) holds(number string) func(context.Context, *lockbroker.Lock) error {
	return func(ctx context.Context, lock *lockbroker.Lock) error {
		mutex.Lock()
		b.lock = lock
		mutex.Unlock()
		what := strings.ReplaceAll(strings.Trim(fmt.Sprint(lock.Fences()), "[]"), " ", ",")
		if lock.Slot() >= 0 {
			what = fmt.Sprintf("slot=%d", lock.Slot())
		}
		context.AfterFunc(ctx, func() {
			if errors.Is(context.Cause(ctx), lockbroker.ErrLost) {
				say(number, "told")
			}
		})
		say(number, "held", what)
		<-b.end
		return nil
	}
}

func (b *block) ends(number string, err error) {
	if err != nil {
		say(number, code(err), err)
	} else {
		say(number, "released")
	}
}

func (b *block) held() *lockbroker.Lock {
	mutex.Lock()
	defer mutex.Unlock()
	return b.lock
}

func (b *block) value(number, text string) {
	if err := b.held().SetValue(context.Background(), text); err != nil {
		say(number, code(err), err)
	} else {
		say(number, "valued")
	}
}

func read(broker *lockbroker.Broker, number, name string) {
	value, err := broker.Value(context.Background(), name)
	switch {
	case err != nil:
		say(number, code(err), err)
	case value == "":
		say(number, "none")
	default:
		say(number, "read", value)
	}
}

func (b *block) check(number string) {
	if b.held().Err() != nil {
		say(number, "lost")
	} else {
		say(number, "safe")
	}
}

func milliseconds(text string) time.Duration {
	number, err := strconv.Atoi(text)
	if err != nil {
		log.Fatal(err)
	}
	return time.Duration(number) * time.Millisecond
}

func main() {
	config := lockbroker.Config{}
	if len(os.Args) > 2 && os.Args[2] == "grace" {
		config.Grace = 5 * time.Second
	}
	broker, err := config.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	blocks := map[string]*block{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		number := words[1]
		switch words[0] {
		case "lock", "slot":
			var opts []lockbroker.Option
			if words[2] != "-" {
				opts = append(opts, lockbroker.Wait(milliseconds(words[2])))
			}
			b := &block{end: make(chan struct{})}
			blocks[number] = b
			take := b.takeLock
			if words[0] == "slot" {
				take = b.takeSlot
			}
			go take(broker, number, words[3:], opts...)
		case "unlock":
			close(blocks[number].end)
		case "check":
			blocks[number].check(number)
		case "value":
			go blocks[number].value(number, words[2])
		case "read":
			go read(broker, number, words[2])
		case "stall":
			time.Sleep(milliseconds(number))
			say(number, "stalled")
		}
	}
	if err := broker.Close(); err != nil {
		log.Fatal(err)
	}
}
