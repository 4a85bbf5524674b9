// Runs one of the recipes in Go: main NAME ARGUMENT.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	lockbroker "github.com/lockbroker/lockbroker/clients/go"
)

// programs are the recipes that were compiled with this, by their names.
var programs = map[string]func(context.Context, *lockbroker.Broker, string) error{}

// The program's own part of the recipes.

func note(name, line string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line + "\n")
	return errors.Join(err, file.Close())
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func waitFor(ctx context.Context, name string) error {
	for !exists(name) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func report(ctx context.Context, day string) error {
	err := note("did", day)
	if err == nil && exists("slow") {
		err = waitFor(ctx, "go")
	}
	return err
}

func bill(ctx context.Context, fence uint64) error {
	for ctx.Err() == nil {
		if err := note("billed", fmt.Sprintf("%s/%d", os.Args[2], fence)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return ctx.Err()
}

func convert(ctx context.Context, _ string) error {
	return errors.Join(note("did", "+"), waitFor(ctx, "go"), note("did", "-"))
}

// It does not heed its context, so that the write is late.
func compute(context.Context) (int64, error) {
	if exists("slow") {
		if err := note("did", "computes"); err != nil {
			return 0, err
		}
		if err := waitFor(context.Background(), "go"); err != nil {
			return 0, err
		}
	}
	var total int64
	_, err := fmt.Sscan(os.Args[2], &total)
	return total, err
}

func main() {
	log.SetFlags(0)
	broker, err := lockbroker.Open()
	if err != nil {
		log.Fatal(err)
	}
	err = programs[os.Args[1]](context.Background(), broker, os.Args[2])
	broker.Close()
	if err != nil {
		log.Fatal(err)
	}
}
