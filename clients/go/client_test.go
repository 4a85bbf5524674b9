package lockbroker_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	lockbroker "github.com/lockbroker/lockbroker/clients/go"
)

// TestMain needs a broker that nobody else uses, at $LOCKBROKER.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("LOCKBROKER") == "" {
		fmt.Println("without a broker, which $LOCKBROKER names, only words are tested")
		_ = flag.Set("test.run", "^TestWords")
		os.Exit(m.Run())
	}
	var err error
	if broker, err = lockbroker.Open(); err != nil {
		panic(err)
	}
	status := m.Run()
	broker.Close()
	if left := goroutines(); left != "" && status == 0 {
		fmt.Println("Close has left goroutines:", left)
		status = 1
	}
	os.Exit(status)
}

// goroutines are those of Brokers.
func goroutines() string {
	buf := make([]byte, 1<<20)
	var found []string
	for _, one := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(one, "created by github.com/lockbroker/") &&
			!strings.Contains(one, "lockbroker_test") {
			found = append(found, one)
		}
	}
	return strings.Join(found, "\n")
}

func open(t *testing.T, config lockbroker.Config, addresses ...string) *lockbroker.Broker {
	t.Helper()
	b, err := config.Open(addresses...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func take(t *testing.T, name string, opts ...lockbroker.Option) *lockbroker.Lock {
	t.Helper()
	lock, err := broker.Lock(ctx, name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Unlock() })
	return lock
}

func want(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("it is %v, and not %v", err, kind)
	}
}

// isFree waits until somebody else can have it.
func isFree(t *testing.T, name string) {
	t.Helper()
	lock, err := broker.Lock(ctx, name, lockbroker.Wait(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestManyGoroutines(t *testing.T) {
	var inside atomic.Int32
	var fences []uint64 // guarded by the lock
	var group sync.WaitGroup
	for i := 0; i < 50; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := 0; n < 20; n++ {
				err := broker.Do(ctx, "hot", func(_ context.Context, lock *lockbroker.Lock) error {
					if inside.Add(1) != 1 {
						t.Error("two at a time")
					}
					fences = append(fences, lock.Fence())
					inside.Add(-1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
	if len(fences) != 1000 || !slices.IsSorted(fences) {
		t.Error("fences do not rise, or some are missing:", len(fences))
	}
}

func TestErrorsTellWhoHasIt(t *testing.T) {
	b := open(t, lockbroker.Config{Label: "first"})
	err := b.Do(ctx, "held", func(context.Context, *lockbroker.Lock) error {
		_, err := broker.Lock(ctx, "b", lockbroker.Names("held"), lockbroker.Try())
		return err
	})
	want(t, err, lockbroker.ErrBusy)
	var refused *lockbroker.Error
	if !errors.As(err, &refused) || refused.Holder != "first" || refused.Names[0] != "held" ||
		refused.Broker == "" || refused.Age < 0 || refused.Age > time.Minute || refused.Before != 0 {
		t.Errorf("%#v", refused)
	}
	if !strings.HasPrefix(err.Error(), "lockbroker: held: held by first") {
		t.Error(err)
	}
}

func TestErrorsTellHowManyAreBefore(t *testing.T) {
	lock := take(t, "queue")
	waits := make(chan error)
	go func() {
		waits <- broker.Do(ctx, "queue", func(context.Context, *lockbroker.Lock) error { return nil })
	}()
	for before := 0; before == 0; {
		var refused *lockbroker.Error
		_, err := broker.Lock(ctx, "queue", lockbroker.Wait(20*time.Millisecond))
		if !errors.As(err, &refused) || refused.Code != "timeout" {
			t.Fatal(err)
		}
		before = refused.Before
	}
	_ = lock.Unlock()
	if err := <-waits; err != nil {
		t.Error(err)
	}
}

// What is reserved is for nobody else, though it was released, or lost by the clock of
// the program.
func TestKeepAndDelay(t *testing.T) {
	name := func(what string) string { return fmt.Sprint(what, time.Now().UnixNano()) }
	kept, delayed, released := name("kept"), name("delayed"), name("released")
	err := broker.Do(ctx, kept, func(context.Context, *lockbroker.Lock) error { return nil },
		lockbroker.Keep(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if err := take(t, released, lockbroker.Delay(30*time.Second)).Unlock(); err != nil {
		t.Fatal(err)
	}
	lost := take(t, delayed, lockbroker.Hold(50*time.Millisecond),
		lockbroker.Delay(30*time.Second))
	<-lost.Context().Done()
	other := open(t, lockbroker.Config{})
	for _, name := range []string{kept, delayed} {
		for err = nil; err == nil || !strings.Contains(err.Error(), "reserved"); {
			_, err = other.Lock(ctx, name, lockbroker.Try())
			want(t, err, lockbroker.ErrBusy)
		}
	}
	if _, err = other.Lock(ctx, released, lockbroker.Try()); err != nil {
		t.Error(err)
	}
}

func TestContextEndsTheWait(t *testing.T) {
	take(t, "a")
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := broker.Lock(short, "a")
	want(t, err, context.DeadlineExceeded)
	if took := time.Since(begun); took > 10*time.Second || took < 50*time.Millisecond {
		t.Error("it took", took)
	}
	why := errors.New("the test ends")
	ended, end := context.WithCancelCause(ctx)
	end(why)
	_, err = broker.Lock(ended, "a")
	want(t, err, why)
	want(t, err, context.Canceled)
}

func TestDeadlock(t *testing.T) {
	lock := take(t, "a", lockbroker.Names("b"))
	inner, cancel := context.WithTimeout(lock.Context(), time.Hour)
	defer cancel()
	_, err := broker.Lock(inner, "b")
	want(t, err, lockbroker.ErrDeadlock)
	other, err := broker.Lock(inner, "c")
	if err != nil {
		t.Fatal(err)
	}
	_, err = broker.Lock(other.Context(), "x", lockbroker.Names("a"), lockbroker.Try())
	want(t, err, lockbroker.ErrDeadlock)
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	// Who shares it may do so twice.
	shared := take(t, "s", lockbroker.Shared())
	twice, err := broker.Lock(shared.Context(), "s", lockbroker.Shared(), lockbroker.Try())
	if err != nil {
		t.Fatal(err)
	}
	_ = twice.Unlock()
	_, err = broker.Lock(shared.Context(), "s")
	want(t, err, lockbroker.ErrDeadlock)
}

func TestLost(t *testing.T) {
	err := broker.Do(ctx, "a", func(ctx context.Context, lock *lockbroker.Lock) error {
		if left := lock.Valid(); left <= 0 || left > 300*time.Millisecond {
			t.Error("valid", left)
		}
		child, cancel := context.WithCancel(ctx)
		defer cancel()
		<-child.Done()
		want(t, context.Cause(child), lockbroker.ErrLost)
		want(t, context.Cause(ctx), lockbroker.ErrLost)
		want(t, lock.Err(), lockbroker.ErrLost)
		return ctx.Err()
	}, lockbroker.Hold(300*time.Millisecond))
	var lost *lockbroker.LostError
	if !errors.As(err, &lost) || lost.Reason != "hold" || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// What fn says for itself is not lost either.
	mine := errors.New("disk full")
	err = broker.Do(ctx, "a", func(ctx context.Context, lock *lockbroker.Lock) error {
		<-ctx.Done()
		return mine
	}, lockbroker.Hold(300*time.Millisecond))
	want(t, err, mine)
	want(t, err, lockbroker.ErrLost)
}

func TestUnlock(t *testing.T) {
	lock := take(t, "a")
	inside := lock.Context()
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	<-inside.Done()
	want(t, context.Cause(inside), context.Canceled)
	want(t, lock.Err(), lockbroker.ErrLost)
	want(t, lock.Unlock(), lockbroker.ErrLost)
	if lock.Valid() != 0 {
		t.Error("valid", lock.Valid())
	}
}

func TestPanicGivesBack(t *testing.T) {
	func() {
		defer func() {
			if recover() != "mine" {
				t.Error("the panic is gone")
			}
		}()
		_ = broker.Do(ctx, "a", func(context.Context, *lockbroker.Lock) error { panic("mine") })
	}()
	isFree(t, "a")
}

func TestDropped(t *testing.T) {
	func() {
		if _, err := broker.Lock(ctx, "a"); err != nil {
			t.Error(err)
		}
	}()
	taken := make(chan error)
	go func() {
		lock, err := broker.Lock(ctx, "a", lockbroker.Wait(20*time.Second))
		if err == nil {
			err = lock.Unlock()
		}
		taken <- err
	}()
	for {
		runtime.GC()
		select {
		case err := <-taken:
			if err != nil {
				t.Error(err)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Whose context is in use is not dropped.
func TestContextKeepsTheLock(t *testing.T) {
	inside := func() context.Context {
		lock, err := broker.Lock(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		return lock.Context()
	}()
	for i := 0; i < 5; i++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	_, err := broker.Lock(ctx, "a", lockbroker.Try())
	want(t, err, lockbroker.ErrBusy)
	if inside.Err() != nil {
		t.Error(inside.Err())
	}
	runtime.KeepAlive(inside)
	inside = nil
	for i := 0; ; i++ {
		runtime.GC()
		lock, err := broker.Lock(ctx, "a", lockbroker.Wait(20*time.Millisecond))
		if err == nil {
			_ = lock.Unlock()
			return
		}
		if i > 500 {
			t.Fatal(err)
		}
	}
}

func TestSemaphore(t *testing.T) {
	two := broker.Semaphore("few", 2)
	first, err := two.Acquire(ctx, lockbroker.Permits(2))
	if err != nil {
		t.Fatal(err)
	}
	_, err = two.Acquire(ctx, lockbroker.Try())
	want(t, err, lockbroker.ErrBusy)
	if first.Fence() != 0 || first.Name() != "few" {
		t.Error(first.Fence(), first.Name())
	}
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	var inside, most atomic.Int32
	var group sync.WaitGroup
	for i := 0; i < 10; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			err := two.Do(ctx, func(context.Context, *lockbroker.Lock) error {
				most.Store(max(most.Load(), inside.Add(1)))
				time.Sleep(5 * time.Millisecond)
				inside.Add(-1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
	if most.Load() != 2 {
		t.Error("at a time:", most.Load())
	}
}

func TestSlots(t *testing.T) {
	gpus := broker.Semaphore("slots", 3)
	held := map[int]*lockbroker.Lock{}
	var mutex sync.Mutex
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			gpu, err := gpus.Acquire(ctx, lockbroker.Permits(1), lockbroker.Slot())
			if err != nil {
				t.Error(err)
				return
			}
			mutex.Lock()
			defer mutex.Unlock()
			held[gpu.Slot()] = gpu
		}()
	}
	group.Wait()
	_, err := gpus.Acquire(ctx, lockbroker.Slot(), lockbroker.Try())
	want(t, err, lockbroker.ErrBusy)
	for slot := 0; slot < 3; slot++ {
		gpu := held[slot]
		if gpu == nil {
			t.Fatal("there are", held)
		}
		if err := gpu.Unlock(); err != nil || gpu.Slot() != slot {
			t.Error(err, gpu.Slot())
		}
		again, err := gpus.Acquire(ctx, lockbroker.Slot(), lockbroker.Try())
		if err != nil || again.Slot() != slot {
			t.Fatal(err, slot, again.Slot())
		}
		defer again.Unlock()
	}
	permit, err := broker.Semaphore("permits", 3).Acquire(ctx)
	if err != nil || permit.Slot() != -1 {
		t.Error(err, permit.Slot())
	}
	defer permit.Unlock()
	if lock := take(t, "slots"); lock.Slot() != -1 {
		t.Error(lock.Slot())
	}
	_, err = broker.Semaphore("slots513", 513).Acquire(ctx, lockbroker.Slot())
	if err == nil || !strings.Contains(err.Error(), "slots513: slot=yes takes a limit=") {
		t.Error(err)
	}
}

func TestLostSlot(t *testing.T) {
	gpus := broker.Semaphore("lost-slots", 2)
	gpu, err := gpus.Acquire(ctx, lockbroker.Slot(), lockbroker.Hold(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	<-gpu.Context().Done()
	want(t, context.Cause(gpu.Context()), lockbroker.ErrLost)
	want(t, gpu.Unlock(), lockbroker.ErrLost)
}

func TestBrokerBeforeSlots(t *testing.T) {
	address := serve(t, func(line string) string {
		if strings.Contains(line, "slot=") {
			return `ERR bad-option the option "slot" does not exist`
		}
		return usual(line)
	})
	b := open(t, lockbroker.Config{}, address)
	var refused *lockbroker.Error
	for _, wait := range []lockbroker.Option{lockbroker.Try(), lockbroker.Wait(time.Minute)} {
		_, err := b.Semaphore("gpus", 2).Acquire(ctx, lockbroker.Slot(), wait)
		if !errors.As(err, &refused) || refused.Code != "bad-option" ||
			!strings.Contains(err.Error(), `gpus: the option "slot" does not exist`) {
			t.Error(err)
		}
	}
	if _, err := b.Semaphore("gpus", 2).Acquire(ctx); err != nil {
		t.Error(err)
	}
}

func TestBarrier(t *testing.T) {
	var sum atomic.Int32
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			index, err := broker.Barrier("phase", 3).Wait(ctx)
			if err != nil {
				t.Error(err)
			}
			sum.Add(int32(index))
		}()
	}
	group.Wait()
	if sum.Load() != 0+1+2 {
		t.Error(sum.Load())
	}
	_, err := broker.Barrier("phase", 2).Wait(ctx, lockbroker.Wait(10*time.Millisecond))
	want(t, err, lockbroker.ErrTimeout)
}

func TestLatch(t *testing.T) {
	latch := broker.Latch("gate")
	if err := latch.Create(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if err := latch.Create(ctx, 2); err == nil {
		t.Error("there are two")
	}
	want(t, latch.Wait(ctx, lockbroker.Wait(10*time.Millisecond)), lockbroker.ErrTimeout)
	for left := 1; left >= 0; left-- {
		if got, err := latch.CountDown(ctx, 1); err != nil || got != left {
			t.Error(got, err)
		}
	}
	if err := latch.Wait(ctx); err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	b := open(t, lockbroker.Config{})
	lock, err := b.Lock(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error)
	go func() {
		_, err := b.Lock(ctx, "a")
		waits <- err
	}()
	time.Sleep(50 * time.Millisecond)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, lock.Err(), lockbroker.ErrLost)
	want(t, lock.Unlock(), lockbroker.ErrLost)
	want(t, <-waits, lockbroker.ErrClosed)
	_, err = b.Lock(ctx, "a")
	want(t, err, lockbroker.ErrClosed)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	isFree(t, "a")
}

func TestNobodyAnswers(t *testing.T) {
	b := open(t, lockbroker.Config{}, "127.0.0.1:1", "/nowhere/socket")
	_, err := b.Lock(ctx, "a", lockbroker.Try())
	want(t, err, lockbroker.ErrUnavailable)
	for _, word := range []string{"a: ", "127.0.0.1:1: connection refused", "/nowhere/socket"} {
		if !strings.Contains(err.Error(), word) {
			t.Error(err)
		}
	}
}

// serve answers by a function, as a broker of another time does.
func serve(t *testing.T, answer func(line string) string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					tag, line := "", lines.Text()
					if strings.HasPrefix(line, "@") {
						tag, line, _ = strings.Cut(line, " ")
						tag += " "
					}
					if reply := answer(line); reply != "" {
						fmt.Fprintf(conn, "%s%s\r\n", tag, reply)
					}
					if line == "QUIT" {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

func usual(line string) string {
	switch verb, _, _ := strings.Cut(line, " "); verb {
	case "SESSION":
		return "OK id=1 key=k"
	case "PING":
		return "OK valid=5000ms"
	case "LOCK":
		return "OK fence=1 depth=1"
	}
	return "OK"
}

func TestWithoutGrace(t *testing.T) {
	address := serve(t, func(line string) string {
		if strings.Contains(line, "grace=") {
			return "ERR limit there is no place for another grace"
		}
		return usual(line)
	})
	var told bytes.Buffer
	b := open(t, lockbroker.Config{Grace: time.Second,
		Logger: slog.New(slog.NewTextHandler(&told, nil))}, address)
	if b.Grace() != time.Second {
		t.Error(b.Grace())
	}
	for i := 0; i < 2; i++ { // each a session of its own
		lock, err := b.Lock(ctx, "a", lockbroker.Hold(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Unlock()
	}
	if b.Grace() != 0 || strings.Count(told.String(), "refuses grace=") != 1 {
		t.Error(b.Grace(), told.String())
	}
}

func TestBrokerBeforeWhy(t *testing.T) {
	address := serve(t, func(line string) string {
		if strings.Contains(line, "why=") {
			return "ERR bad-option why= is not known"
		}
		return usual(line)
	})
	b := open(t, lockbroker.Config{User: "u", Password: "p", Label: "l"}, address)
	err := b.Do(ctx, "a", func(context.Context, *lockbroker.Lock) error { return nil })
	if err != nil {
		t.Error(err)
	}
}

func TestPassword(t *testing.T) {
	address := serve(t, func(line string) string {
		if strings.HasPrefix(line, "AUTH ") {
			return "ERR auth user or password is wrong"
		}
		return usual(line)
	})
	b := open(t, lockbroker.Config{User: "u", Password: "p"}, address)
	_, err := b.Lock(ctx, "a", lockbroker.Wait(time.Minute))
	want(t, err, lockbroker.ErrDenied)
}

// No line is so long, and none that is garbage is taken for an answer.
func TestStrangers(t *testing.T) {
	for _, says := range []string{"-ERR unknown command", "HTTP/1.1 400 Bad Request",
		strings.Repeat("x", 100000), "@7 OK"} {
		address := serve(t, func(string) string { return says })
		b := open(t, lockbroker.Config{}, address)
		_, err := b.Lock(ctx, "a", lockbroker.Try())
		want(t, err, lockbroker.ErrUnavailable)
		if !strings.Contains(err.Error(), address) {
			t.Error(err)
		}
	}
}

func TestWordsOfOptions(t *testing.T) {
	b, err := lockbroker.Open("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, opts := range [][]lockbroker.Option{
		{lockbroker.Hold(0)}, {lockbroker.Hold(-time.Second)}, {lockbroker.Wait(-1)},
		{lockbroker.Keep(-1)}, {lockbroker.Delay(-1)}, {lockbroker.Permits(2)},
		{lockbroker.Names("a b")}, {lockbroker.Names("")}, {lockbroker.Value("a b")},
		{lockbroker.Slot()},
	} {
		var refused *lockbroker.Error
		_, err := b.Lock(ctx, "a", opts...)
		if !errors.As(err, &refused) || !strings.HasPrefix(refused.Code, "bad-") {
			t.Error(err)
		}
	}
	for _, opts := range [][]lockbroker.Option{
		{lockbroker.Shared()}, {lockbroker.Keep(1)}, {lockbroker.Names("b")},
		{lockbroker.Permits(0)}, {lockbroker.Value("a")}, {lockbroker.Trace("a")},
		{lockbroker.Slot(), lockbroker.Permits(2)}, {lockbroker.Permits(2), lockbroker.Slot()},
	} {
		var refused *lockbroker.Error
		_, err := b.Semaphore("a", 2).Acquire(ctx, opts...)
		if !errors.As(err, &refused) || refused.Code != "bad-option" {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "a b", "a=b", "a\n", "\xff"} {
		var refused *lockbroker.Error
		_, err := b.Lock(ctx, name)
		if !errors.As(err, &refused) || refused.Code != "bad-name" {
			t.Error(err)
		}
	}
	for _, config := range []lockbroker.Config{{User: "a b"}, {Label: "a\r\nQUIT"},
		{Patience: -1}, {Grace: -1}} {
		if _, err := config.Open(); err == nil {
			t.Errorf("%+v", config)
		}
	}
}

func TestValuesThatCanNotBe(t *testing.T) {
	one, two := take(t, "v1"), take(t, "v2", lockbroker.Names("v3"))
	permit, err := broker.Semaphore("v", 2).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer permit.Unlock()
	over, cancel := context.WithCancel(ctx)
	cancel()
	for _, got := range []struct {
		err  error
		code string
	}{
		{one.SetValue(ctx, "a b"), "bad-option"},
		{one.SetValue(ctx, ""), "bad-option"},
		{two.SetValue(ctx, "x"), "bad-option"},
		{permit.SetValue(ctx, "x"), "bad-option"},
		{one.SetValue(over, "x"), "cancelled"},
	} {
		var refused *lockbroker.Error
		if !errors.As(got.err, &refused) || refused.Code != got.code || refused.Names == nil {
			t.Error(got.err, got.code)
		}
	}
	if value, err := broker.Value(ctx, "v1"); value != "" && value != "x" || err != nil {
		t.Error(value, err)
	}
	_ = one.Unlock()
	want(t, one.SetValue(ctx, "x"), lockbroker.ErrLost)
	if _, err := broker.Value(ctx, "a b"); err == nil {
		t.Error("that is no name")
	}
	lost := take(t, "v4", lockbroker.Hold(50*time.Millisecond))
	<-lost.Context().Done()
	want(t, lost.SetValue(ctx, "x"), lockbroker.ErrLost)
}

func TestTraceOfAContext(t *testing.T) {
	type key struct{}
	var mutex sync.Mutex
	told := []string{}
	address := serve(t, func(line string) string {
		if _, trace, _ := strings.Cut(line, " trace="); strings.HasPrefix(line, "LOCK ") {
			mutex.Lock()
			defer mutex.Unlock()
			told = append(told, strings.TrimSuffix(trace, " wait=0"))
		}
		return usual(line)
	})
	b := open(t, lockbroker.Config{Trace: func(ctx context.Context) string {
		trace, _ := ctx.Value(key{}).(string)
		return trace
	}}, address)
	inside := context.WithValue(ctx, key{}, "context's")
	lock := func(ctx context.Context, opts ...lockbroker.Option) error {
		return b.Do(ctx, "a", func(context.Context, *lockbroker.Lock) error { return nil },
			append(opts, lockbroker.Try())...)
	}
	for _, err := range []error{
		lock(inside), lock(inside, lockbroker.Trace("its-own")), lock(ctx),
		b.Semaphore("s", 1).Do(inside, func(context.Context, *lockbroker.Lock) error { return nil }),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := lock(context.WithValue(ctx, key{}, "a b")); err == nil {
		t.Error("that is no trace")
	}
	mutex.Lock()
	defer mutex.Unlock()
	if !slices.Equal(told, []string{"context's", "its-own", ""}) {
		t.Error(told)
	}
}
