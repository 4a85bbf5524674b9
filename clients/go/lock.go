package lockbroker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func itoa(number int) string {
	return strconv.Itoa(number)
}

// An Option changes how a lock or permits are taken.
type Option func(*request)

type request struct {
	more              []string
	shared            bool
	wait              time.Duration
	hold, keep, delay time.Duration
	value, trace      string
	permits           int
	slot              bool
	err               error
}

// set refuses a time that would not mean what it seems to.
func (r *request) set(what string, to *time.Duration, d, least time.Duration) {
	if d < least && r.err == nil {
		r.err = badOption("%s(%v): the least is %v", what, d, least)
	}
	*to = d
}

// Wait waits for this long at most; Wait(0) is [Try]. Without it the wait has no
// limit, while some broker answers.
func Wait(d time.Duration) Option {
	return func(r *request) { r.set("Wait", &r.wait, d, 0) }
}

// Try does not wait: it is granted at once, or the error is [ErrBusy].
func Try() Option {
	return Wait(0)
}

// Shared takes a lock together with others that share it.
func Shared() Option {
	return func(r *request) { r.shared = true }
}

// Hold is the maximum hold time: then it is lost.
func Hold(d time.Duration) Option {
	return func(r *request) { r.set("Hold", &r.hold, d, time.Millisecond) }
}

// Keep reserves the name for this long from the grant on, however early it is
// released: no other client gets it.
func Keep(d time.Duration) Option {
	return func(r *request) { r.set("Keep", &r.keep, d, 0) }
}

// Delay reserves the name for this long after it was lost, so that work in progress
// can finish.
func Delay(d time.Duration) Option {
	return func(r *request) { r.set("Delay", &r.delay, d, 0) }
}

// Value is a word that others read with [Broker.Value] while the lock is held, such as
// the address of a leader.
func Value(v string) Option {
	return func(r *request) {
		r.value = v
		if err := checkWord(v, "bad-option"); err != nil && r.err == nil {
			r.err = err
		}
	}
}

// Trace is a traceparent (W3C Trace Context) that the broker's log, QUEUE and HISTORY
// show with the lock; by default the Trace of the [Config] returns it.
func Trace(traceparent string) Option {
	return func(r *request) {
		r.trace = traceparent
		if err := checkWord(traceparent, "bad-option"); err != nil && r.err == nil {
			r.err = err
		}
	}
}

// Names takes these as well: all of them, or none.
func Names(names ...string) Option {
	return func(r *request) { r.more = append(r.more, names...) }
}

// Permits takes this many permits of a semaphore; without it, one.
func Permits(n int) Option {
	return func(r *request) {
		r.permits = n
		if n < 1 && r.err == nil {
			r.err = badOption("Permits(%d)", n)
		}
	}
}

// Slot takes one permit of a semaphore together with its slot, a number from 0 to
// limit - 1 that no other client holds, through any broker: for a GPU, a port or a
// shard. [Lock.Slot] returns it.
func Slot() Option {
	return func(r *request) { r.slot = true }
}

func newRequest(opts []Option) (*request, error) {
	r := &request{wait: forever}
	for _, opt := range opts {
		opt(r)
	}
	return r, r.err
}

func (r *request) wantLock(name string) (*want, error) {
	if r.permits != 0 || r.slot {
		return nil, badOption("a lock has no Permits and no Slot")
	}
	line := ""
	if r.shared {
		line = " mode=shared"
	}
	if r.value != "" {
		line += " value=" + r.value
	}
	if r.trace != "" {
		line += " trace=" + r.trace
	}
	return r.want("lock", append([]string{name}, r.more...), "LOCK", line, "UNLOCK", "")
}

func (r *request) wantPermits(name string, limit int) (*want, error) {
	if r.shared || r.more != nil || r.keep != 0 || r.delay != 0 || r.value != "" || r.trace != "" {
		return nil, badOption("a semaphore has only Wait, Try, Hold, Permits and Slot")
	}
	if limit < 1 {
		return nil, badOption("a semaphore of %d", limit)
	}
	if r.slot && r.permits > 1 {
		return nil, badOption("a Slot goes with one permit, not with Permits(%d)", r.permits)
	}
	permits := " permits=" + itoa(max(1, r.permits))
	take := permits
	if r.slot {
		take = " slot=yes"
	}
	return r.want("semaphore", []string{name}, "ACQUIRE", " limit="+itoa(limit)+take,
		"RELEASE", permits)
}

func (r *request) want(kind string, names []string, verb, line, undo, tail string) (*want, error) {
	w := &want{kind: kind, names: names, verb: undo, tail: tail, hold: r.hold,
		delay: r.delay, whole: !r.shared}
	for _, name := range names {
		if err := checkWord(name, "bad-name"); err != nil {
			return nil, err
		}
		w.keys = append(w.keys, kind+" "+name)
	}
	w.busy = w.keys
	for _, one := range []struct {
		word  string
		value time.Duration
	}{{" hold=", r.hold}, {" keep=", r.keep}, {" delay=", r.delay}} {
		if one.value > 0 {
			line += one.word + duration(one.value)
		}
	}
	if r.hold > 0 {
		w.busy = append(append([]string(nil), w.keys...), alone)
	}
	w.line = verb + " " + strings.Join(names, " ") + line
	return w, nil
}

// A Lock is a hold of a program, a lock or permits of a [Semaphore], until it is
// released or lost. Its methods may be called by any goroutine. A Lock that is
// dropped without Unlock is released when the garbage collector finds it.
type Lock struct {
	hold *hold
	ctx  context.Context // of who took it
}

// Lock takes the lock of a name, and waits for it. The context ends the wait, and
// is the parent of [Lock.Context].
//
// Taking exclusively a name that the caller holds according to ctx (ctx is, or is
// derived from, the context of a Lock of that name) is [ErrDeadlock].
func (b *Broker) Lock(ctx context.Context, name string, opts ...Option) (*Lock, error) {
	r, err := newRequest(opts)
	if err == nil && r.trace == "" && b.config.Trace != nil {
		if trace := b.config.Trace(ctx); trace != "" {
			Trace(trace)(r)
			err = r.err
		}
	}
	if err != nil {
		return nil, named(err, []string{name})
	}
	w, err := r.wantLock(name)
	if err != nil {
		return nil, named(err, []string{name})
	}
	return b.grant(ctx, w, r.wait)
}

// Elect waits until it leads: it is a Lock, and the holder of the name leads.
func (b *Broker) Elect(ctx context.Context, name string, opts ...Option) (*Lock, error) {
	return b.Lock(ctx, name, opts...)
}

// Value returns the value of the current holder, through any broker; "" if the lock is
// free, or the holder gave no value.
func (b *Broker) Value(ctx context.Context, name string) (string, error) {
	r, err := b.query(ctx, &want{kind: "query", names: []string{name}, brief: true,
		line: "STATUS " + name}, []Option{Try()})
	if err != nil {
		return "", err
	}
	return r.get("value"), nil
}

// Do calls fn while it holds the lock, with the context of that. It returns the
// error of fn, or why the lock was not granted, or that it was lost.
func (b *Broker) Do(ctx context.Context, name string,
	fn func(ctx context.Context, lock *Lock) error, opts ...Option) error {
	lock, err := b.Lock(ctx, name, opts...)
	if err != nil {
		return err
	}
	return lock.do(fn)
}

// A Semaphore has a number of permits, and takes them.
type Semaphore struct {
	b     *Broker
	name  string
	limit int
}

// Semaphore returns the semaphore of a name. All its users must give the same limit.
func (b *Broker) Semaphore(name string, limit int) *Semaphore {
	return &Semaphore{b, name, limit}
}

// Acquire takes permits, and waits for them, like [Broker.Lock].
func (s *Semaphore) Acquire(ctx context.Context, opts ...Option) (*Lock, error) {
	r, err := newRequest(opts)
	if err != nil {
		return nil, named(err, []string{s.name})
	}
	w, err := r.wantPermits(s.name, s.limit)
	if err != nil {
		return nil, named(err, []string{s.name})
	}
	return s.b.grant(ctx, w, r.wait)
}

// Do calls fn while it holds permits, like [Broker.Do].
func (s *Semaphore) Do(ctx context.Context, fn func(ctx context.Context, lock *Lock) error,
	opts ...Option) error {
	lock, err := s.Acquire(ctx, opts...)
	if err != nil {
		return err
	}
	return lock.do(fn)
}

func (b *Broker) grant(ctx context.Context, w *want, wait time.Duration) (*Lock, error) {
	if err := b.refuseTwice(ctx, w); err != nil {
		return nil, err
	}
	b.lock()
	h, _, err := b.ask(ctx, w, wait)
	b.unlock()
	if err != nil {
		return nil, told(ctx, err, w.names)
	}
	lock := &Lock{hold: h, ctx: ctx}
	runtime.SetFinalizer(lock, (*Lock).dropped)
	return lock, nil
}

type holderKey struct{}

// refuseTwice: a caller that holds a name would wait for itself.
func (b *Broker) refuseTwice(ctx context.Context, w *want) error {
	for {
		mine, _ := ctx.Value(holderKey{}).(*Lock)
		if mine == nil {
			return nil
		}
		ctx = mine.ctx
		h := mine.hold
		if h.s.b != b || h.want.kind != "lock" || !(w.whole || h.want.whole) || mine.isOver() {
			continue
		}
		for _, key := range w.keys {
			for i, own := range h.want.keys {
				if key == own {
					return &Error{Code: "deadlock", Names: h.want.names[i : i+1],
						Text: "it is held by this very context"}
				}
			}
		}
	}
}

func (l *Lock) isOver() bool {
	l.hold.s.b.lock()
	defer l.hold.s.b.unlock()
	return l.hold.over
}

// do calls fn, and releases, even if fn panics.
func (l *Lock) do(fn func(context.Context, *Lock) error) (err error) {
	defer func() {
		lost := l.Unlock()
		switch {
		case lost == nil:
		case err == nil, errors.Is(err, lost), errors.Is(err, context.Canceled) && l.ctx.Err() == nil:
			err = lost
		default:
			err = errors.Join(err, lost)
		}
	}()
	return fn(l.Context(), l)
}

// SetValue changes the value that [Broker.Value] returns.
func (l *Lock) SetValue(ctx context.Context, value string) error {
	return told(ctx, l.hold.s.b.setValue(ctx, l.hold, value), l.hold.want.names)
}

// Unlock releases it. The error is a [LostError] if it was lost before.
func (l *Lock) Unlock() error {
	runtime.SetFinalizer(l, nil)
	return l.hold.s.b.release(l.hold)
}

// dropped is called when nothing refers to the Lock.
func (l *Lock) dropped() {
	b := l.hold.s.b
	b.lock()
	defer b.unlock()
	if !l.hold.given && !b.closed {
		b.wg.Add(1)
		go func() {
			defer b.wg.Done()
			_ = b.release(l.hold)
		}()
	}
}

// Name is its name, or the first of several.
func (l *Lock) Name() string {
	return l.hold.want.names[0]
}

// Names are all that it holds.
func (l *Lock) Names() []string {
	return append([]string(nil), l.hold.want.names...)
}

// Fence rises with each exclusive grant of the name: pass it on to the protected
// resource, and have that refuse a smaller one. Permits have none: it is 0.
func (l *Lock) Fence() uint64 {
	if len(l.hold.fences) == 0 {
		return 0
	}
	return l.hold.fences[0]
}

// Fences has one for each of Names.
func (l *Lock) Fences() []uint64 {
	return append([]uint64(nil), l.hold.fences...)
}

// Slot is the number that it was granted with the option [Slot]: only its holder uses the
// GPU, the port or the shard of that number. Without the option it is -1.
func (l *Lock) Slot() int {
	return l.hold.slot
}

// Valid is the time for which no other client can get it, whatever happens; 0 if it
// is lost.
func (l *Lock) Valid() time.Duration {
	b := l.hold.s.b
	b.lock()
	defer b.unlock()
	return l.hold.valid()
}

// Err is nil while it is safe to continue, by the clock of this host, and otherwise a
// [LostError], or that it was released.
func (l *Lock) Err() error {
	b := l.hold.s.b
	b.lock()
	defer b.unlock()
	h := l.hold
	switch {
	case h.valid() > 0:
		return nil
	case h.err != nil:
		return h.err
	}
	return (&Error{Code: "not-held", Text: "it was given back"}).about(h.want.names)
}

// Context is derived from the context that the lock was taken with, and is cancelled
// when the lock is lost, with the cause (context.Cause) *LostError, and when it
// is released. Its Err looks at the clock first: a program that was stopped for
// a while learns at once that the lock is lost.
func (l *Lock) Context() context.Context {
	// Not with the mutex: the parent may be the context of another Lock.
	inner, cancel := context.WithCancelCause(l.ctx)
	h, b := l.hold, l.hold.s.b
	b.lock()
	defer b.unlock()
	switch {
	case h.ctx != nil:
		cancel(nil)
	default:
		h.ctx, h.cancel = inner, cancel
		if h.over {
			cancel(h.err)
		}
	}
	return lockContext{h.ctx, l}
}

// A lockContext keeps its Lock from being dropped.
type lockContext struct {
	context.Context
	lock *Lock
}

func (c lockContext) Err() error {
	c.lock.Valid()
	return c.Context.Err()
}

func (c lockContext) Value(key any) any {
	if key == (holderKey{}) {
		return c.lock
	}
	return c.Context.Value(key)
}

func (c lockContext) String() string {
	return fmt.Sprintf("%v.Lock(%s)", c.lock.ctx, strings.Join(c.lock.hold.want.names, ", "))
}

// A Latch opens for all when it has been counted down to 0.
type Latch struct {
	b    *Broker
	name string
}

// Latch returns the latch of a name.
func (b *Broker) Latch(name string) *Latch {
	return &Latch{b, name}
}

func (b *Broker) query(ctx context.Context, w *want, opts []Option) (*reply, error) {
	r, err := newRequest(opts)
	if err == nil && (r.shared || r.more != nil || r.hold != 0 || r.keep != 0 || r.delay != 0 ||
		r.permits != 0 || r.slot || r.value != "" || r.trace != "") {
		err = badOption("a wait has only Wait and Try")
	}
	if err == nil {
		err = checkWord(w.names[0], "bad-name")
	}
	if err != nil {
		return nil, named(err, w.names)
	}
	w.keys = []string{w.kind + " " + w.names[0]}
	w.busy = w.keys
	b.lock()
	_, got, err := b.ask(ctx, w, r.wait)
	b.unlock()
	return got, told(ctx, err, w.names)
}

// Create sets it to a number, if there is none yet.
func (l *Latch) Create(ctx context.Context, count int) error {
	_, err := l.b.query(ctx, &want{kind: "latch", names: []string{l.name}, once: true,
		line: "LATCH " + l.name + " count=" + itoa(count)}, nil)
	return err
}

// CountDown returns the count that is left.
func (l *Latch) CountDown(ctx context.Context, by int) (int, error) {
	r, err := l.b.query(ctx, &want{kind: "latch", names: []string{l.name}, once: true,
		line: "COUNTDOWN " + l.name + " by=" + itoa(by)}, nil)
	if err != nil {
		return 0, err
	}
	return r.number("count"), nil
}

// Wait waits until it is open.
func (l *Latch) Wait(ctx context.Context, opts ...Option) error {
	_, err := l.b.query(ctx, &want{kind: "latch", names: []string{l.name},
		line: "AWAIT " + l.name}, opts)
	return err
}

// A Barrier lets all parties go when the last of them has come.
type Barrier struct {
	b       *Broker
	name    string
	parties int
}

// Barrier returns the barrier of a name.
func (b *Broker) Barrier(name string, parties int) *Barrier {
	return &Barrier{b, name, parties}
}

// Wait returns how many were still to come: 0 to the last.
func (b *Barrier) Wait(ctx context.Context, opts ...Option) (int, error) {
	r, err := b.b.query(ctx, &want{kind: "barrier", names: []string{b.name}, once: true,
		line: "BARRIER " + b.name + " parties=" + itoa(b.parties)}, opts)
	if err != nil {
		return 0, err
	}
	return r.number("index"), nil
}
