// The recipes that need nothing but the client.
package main

import (
	"context"
	"errors"
	"fmt"

	lockbroker "github.com/lockbroker/lockbroker/clients/go"
)

func init() {
	programs["once"] = nightlyReport
	programs["lead"] = lead
	programs["leader"] = func(ctx context.Context, broker *lockbroker.Broker, _ string) error {
		address, err := leader(ctx, broker)
		if address == "" {
			address = "none"
		}
		fmt.Println(address)
		return err
	}
	programs["thumbnails"] = thumbnails
}

func thumbnails(ctx context.Context, broker *lockbroker.Broker, _ string) error {
	ends := make(chan error)
	for i := 0; i < 3; i++ {
		go func(path string) {
			ends <- thumbnail(ctx, broker, path)
		}(fmt.Sprint(i, ".jpg"))
	}
	return errors.Join(<-ends, <-ends, <-ends)
}
