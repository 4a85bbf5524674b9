package lockbroker_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	lockbroker "github.com/lockbroker/lockbroker/clients/go"
)

var (
	ctx    = context.Background()
	broker *lockbroker.Broker // which TestMain opens
)

func Example() {
	broker, err := lockbroker.Open()
	if err != nil {
		log.Fatal(err)
	}
	err = broker.Do(context.Background(), "nightly-report",
		func(ctx context.Context, lock *lockbroker.Lock) error {
			fmt.Println("here we work", lock.Fence() > 0)
			return nil
		}, lockbroker.Wait(10*time.Second))
	if err != nil {
		fmt.Println(err)
	}
	broker.Close()
	// Output: here we work true
}

func ExampleBroker_Lock() {
	lock, err := broker.Lock(ctx, "ledger", lockbroker.Wait(10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	for part := 0; part < 3; part++ {
		if err := lock.Err(); err != nil {
			log.Fatal(err) // somebody else may have it now
		}
		fmt.Println("part", part)
	}
	if err := lock.Unlock(); err != nil {
		log.Fatal(err) // it was lost before
	}
	// Output:
	// part 0
	// part 1
	// part 2
}

func ExampleTry() {
	lock, err := broker.Lock(ctx, "taken")
	if err != nil {
		log.Fatal(err)
	}
	defer lock.Unlock()
	_, err = broker.Lock(ctx, "taken", lockbroker.Try())
	fmt.Println(errors.Is(err, lockbroker.ErrBusy))
	// Output: true
}

func ExampleWait() {
	lock, err := broker.Lock(ctx, "taken")
	if err != nil {
		log.Fatal(err)
	}
	defer lock.Unlock()
	_, err = broker.Lock(ctx, "taken", lockbroker.Wait(50*time.Millisecond))
	fmt.Println(errors.Is(err, lockbroker.ErrTimeout))
	// Output: true
}

func ExampleLock_Context() {
	lock, err := broker.Lock(ctx, "short", lockbroker.Hold(300*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	defer lock.Unlock()
	<-lock.Context().Done() // as a long query would
	var lost *lockbroker.LostError
	if errors.As(context.Cause(lock.Context()), &lost) {
		fmt.Println(lost.Names, lost.Reason)
	}
	// Output: [short] hold
}

func ExampleNames() {
	lock, err := broker.Lock(ctx, "from", lockbroker.Names("to"))
	if err != nil {
		log.Fatal(err)
	}
	defer lock.Unlock()
	fmt.Println(lock.Names(), len(lock.Fences()))
	// Output: [from to] 2
}

func ExampleShared() {
	for i := 0; i < 2; i++ {
		lock, err := broker.Lock(ctx, "release", lockbroker.Shared(), lockbroker.Try())
		if err != nil {
			log.Fatal(err)
		}
		defer lock.Unlock()
		fmt.Println("reader", i)
	}
	// Output:
	// reader 0
	// reader 1
}

func ExampleSemaphore_Do() {
	err := broker.Semaphore("encoders", 4).Do(ctx,
		func(ctx context.Context, lock *lockbroker.Lock) error {
			fmt.Println("at most four do this")
			return nil
		})
	if err != nil {
		log.Fatal(err)
	}
	// Output: at most four do this
}

func ExampleSlot() {
	gpus := broker.Semaphore("gpus", 4)
	for i := 0; i < 2; i++ {
		gpu, err := gpus.Acquire(ctx, lockbroker.Slot())
		if err != nil {
			log.Fatal(err)
		}
		defer gpu.Unlock()
		fmt.Printf("CUDA_VISIBLE_DEVICES=%d\n", gpu.Slot())
	}
	// Output:
	// CUDA_VISIBLE_DEVICES=0
	// CUDA_VISIBLE_DEVICES=1
}

func ExampleBroker_Elect() {
	leader, err := broker.Elect(ctx, "billing-leader", lockbroker.Value("10.0.0.7:80"))
	if err != nil {
		log.Fatal(err)
	}
	defer leader.Unlock()
	fmt.Println("leads until", leader.Context().Err())
	// Output: leads until <nil>
}

func ExampleBroker_Value() {
	leader, err := broker.Elect(ctx, "mail-leader", lockbroker.Value("10.0.0.7:80"))
	if err != nil {
		log.Fatal(err)
	}
	defer leader.Unlock()
	fmt.Println(broker.Value(ctx, "mail-leader"))
	fmt.Println(leader.SetValue(ctx, "10.0.0.7:8080"))
	fmt.Println(broker.Value(ctx, "mail-leader"))
	// Output:
	// 10.0.0.7:80 <nil>
	// <nil>
	// 10.0.0.7:8080 <nil>
}

func ExampleLatch() {
	migrated := broker.Latch("migrated")
	if err := migrated.Create(ctx, 1); err != nil {
		log.Fatal(err)
	}
	if _, err := migrated.CountDown(ctx, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(migrated.Wait(ctx))
	// Output: <nil>
}
