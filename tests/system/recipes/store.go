// The recipe that needs a database.
package main

import (
	"context"
	"database/sql"
	"os"

	_ "github.com/lib/pq"
	lockbroker "github.com/lockbroker/lockbroker/clients/go"
)

func init() {
	programs["store"] = func(ctx context.Context, broker *lockbroker.Broker, _ string) error {
		books, err := sql.Open("postgres", os.Getenv("BOOKS"))
		if err != nil {
			return err
		}
		defer books.Close()
		return store(ctx, broker, books)
	}
}
