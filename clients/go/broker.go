package lockbroker

import (
	"context"
	"crypto/tls"
	"log/slog"
	"sort"
	"strings"
	"sync"
	"time"
)

const (
	patience = time.Second // the longest time that a call takes beyond its Wait
	// A timer that is later than this: the program did not run.
	still = 300 * time.Millisecond
	idle  = 8                      // sessions without work that are kept
	retry = 200 * time.Millisecond // the time that a request waits at a second broker
	look  = 200 * time.Millisecond // how often broker silence is checked
)

// A Config has the settings of a [Broker] except its addresses. [Open] uses the zero
// value.
type Config struct {
	// User and Password are for brokers that have users.
	User, Password string
	// TLS is for addresses with tls:// before them. Without a ServerName the host of
	// the address is used.
	TLS *tls.Config
	// Grace is how long holds survive a lost connection.
	Grace time.Duration
	// Label is a name for operators.
	Label string
	// Patience is how much longer a call may take than its Wait; a second if it
	// is 0.
	Patience time.Duration
	// Trace returns the traceparent of a context, or "", for each lock without the
	// option [Trace]. With OpenTelemetry:
	//
	//	func(ctx context.Context) string {
	//		carrier := propagation.MapCarrier{}
	//		propagation.TraceContext{}.Inject(ctx, carrier)
	//		return carrier["traceparent"]
	//	}
	Trace func(ctx context.Context) string
	// Logger gets events that no call can return; slog.Default() if it is nil.
	Logger *slog.Logger
}

// A Broker takes locks at the first of its addresses that answers. It may be used by
// any number of goroutines, which exclude each other like separate programs. A
// program needs one.
type Broker struct {
	config Config
	all    []*place
	ctx    context.Context // of all that it dials
	cancel context.CancelFunc
	wg     sync.WaitGroup // of its goroutines
	poke   chan struct{}  // for keep()

	mu       sync.Mutex // guards what is below, and all sessions
	why      string     // the reason for a refusal
	grace    time.Duration
	sessions []*session
	waits    []*call // calls with a waiting goroutine
	sleeps   int     // goroutines that wait for a moment
	closed   bool
	keeping  bool
	due      time.Duration // when keep() wakes up
	stood    time.Duration // time in which this program did not run
	dirty    []*session    // have something to write
	later    []func()      // to be called without the mutex
}

// Open is [Config.Open] without more.
func Open(addresses ...string) (*Broker, error) {
	return Config{}.Open(addresses...)
}

// Open makes a Broker for these addresses: HOST:PORT, tls://HOST:PORT, or the
// path of a Unix socket. Without any it takes the addresses in $LOCKBROKER, which are
// separated by commas, or the local broker's. It connects at the first request.
func (c Config) Open(addresses ...string) (*Broker, error) {
	all, err := parsePlaces(addresses)
	if err != nil {
		return nil, err
	}
	for _, word := range []string{c.User, c.Password, c.Label} {
		if word == "" {
			continue
		}
		if err := checkWord(word, "bad-option"); err != nil {
			return nil, err
		}
	}
	if c.Patience == 0 {
		c.Patience = patience
	}
	if c.Patience < 0 || c.Grace < 0 {
		return nil, badOption("a time is less than nothing")
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	b := &Broker{config: c, all: all, why: " why=yes", grace: c.Grace, due: forever,
		poke: make(chan struct{}, 1)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.wg.Add(1)
	// The first timer of a program opens descriptors, without which it dies: so
	// that is here, and not whenever keep() begins.
	time.AfterFunc(time.Hour, func() {}).Stop()
	go b.keep()
	return b, nil
}

// Close releases all holds, after it has reported the loss to their users. When it
// returns, no goroutine of the Broker is left.
func (b *Broker) Close() error {
	b.lock()
	b.closed = true
	for _, s := range b.sessions {
		for h := range s.holds {
			h.lose("closed")
		}
	}
	for _, s := range append([]*session(nil), b.sessions...) {
		s.comesBack(context.Background())
		s.drop("closed")
	}
	b.unlock()
	b.cancel()
	b.wg.Wait()
	return nil
}

// Grace is how long holds survive a lost connection: the Grace of the Config, or 0 if
// the broker has no slot for it.
func (b *Broker) Grace() time.Duration {
	b.lock()
	defer b.unlock()
	return b.grace
}

func (b *Broker) withoutGrace(err error) {
	if b.grace == 0 {
		return
	}
	b.grace = 0
	b.later = append(b.later, func() {
		b.config.Logger.Warn("locks will not survive a lost connection: "+
			"the broker refuses grace=", "error", err)
	})
}

func (b *Broker) lock() {
	b.mu.Lock()
}

// unlock calls the functions that must be called without the mutex.
func (b *Broker) unlock() {
	dirty, later := b.dirty, b.later
	if dirty != nil {
		b.dirty = nil
	}
	if later != nil {
		b.later = nil
	}
	b.mu.Unlock()
	for _, s := range dirty {
		s.flush()
	}
	for _, do := range later {
		do()
	}
}

// Time.

// ran is a clock that stands still while this program does not run.
func (b *Broker) ran() time.Duration {
	at := now()
	if at-still > b.due {
		b.stood += at - b.due
		b.due = at
	}
	return at - b.stood
}

// arm makes keep() check everything at that time at the latest.
func (b *Broker) arm(at time.Duration) {
	if at >= b.due {
		return
	}
	b.ran()
	b.due = at
	if b.keeping {
		return
	}
	select {
	case b.poke <- struct{}{}:
	default:
	}
}

// keep is a goroutine that checks all calls and sessions when it is time.
func (b *Broker) keep() {
	defer b.wg.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-b.poke:
		case <-b.ctx.Done():
			return
		}
		b.lock()
		b.ran()
		if now() >= b.due {
			b.due, b.keeping = forever, true
			b.lookAtAll()
			b.keeping = false
		}
		pause := min(max(b.due-now(), time.Millisecond), time.Hour)
		b.unlock()
		if !timer.Stop() {
			select {
			case <-timer.C:
			default:
			}
		}
		timer.Reset(pause)
	}
}

func (b *Broker) lookAtAll() {
	for _, c := range append([]*call(nil), b.waits...) {
		b.look(c)
	}
	for _, s := range append([]*session(nil), b.sessions...) {
		s.tick()
	}
	for _, c := range b.waits {
		b.arm(now() + b.pace(c))
	}
	if b.sleeps > 0 {
		b.arm(now() + look)
	}
}

// pace is how often a call is checked.
func (b *Broker) pace(c *call) time.Duration {
	return min(look, max(20*time.Millisecond, min(c.allowed, c.limit.left(b))/4))
}

// brisk is the least silence that the calls of this session allow it.
func (b *Broker) brisk(s *session) time.Duration {
	least := frozen
	for _, c := range b.waits {
		if c.asks == s {
			least = min(least, c.allowed)
		}
	}
	return least
}

// A limit is how long one call may take: its Wait and the patience, not counting
// time in which the program did not run; without a Wait, `silence` from the last
// answer.
type limit struct {
	patience time.Duration
	quiet    time.Duration // no broker has answered since, by ran()
	hard     time.Duration // or forever
}

func (b *Broker) limit(wait time.Duration) *limit {
	l := &limit{patience: b.config.Patience, quiet: b.ran(), hard: forever}
	if wait < forever {
		l.hard = l.quiet + wait + l.patience
	}
	return l
}

func (l *limit) left(b *Broker) time.Duration {
	if l.hard == forever {
		return l.quiet + silence - b.ran()
	}
	return l.hard - b.ran()
}

// share is the part of that for one address, if there are others to try.
func (l *limit) share(b *Broker, others bool) time.Duration {
	left := max(0, l.left(b))
	if !others {
		return left
	}
	return max(left/2, min(left, l.patience/2))
}

// sleep is without the mutex.
func (b *Broker) sleep(ctx context.Context, pause time.Duration) {
	b.sleeps++
	b.arm(now() + look)
	b.unlock()
	timer := time.NewTimer(pause)
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-b.ctx.Done():
	}
	timer.Stop()
	b.lock()
	b.sleeps--
}

// comesBack waits for a moment until it is known whether the session continues.
func (s *session) comesBack(ctx context.Context) {
	if s.state != isAway {
		return
	}
	home, b := s.home, s.b
	b.unlock()
	timer := time.NewTimer(moment)
	select {
	case <-home:
	case <-timer.C:
	case <-ctx.Done():
	}
	timer.Stop()
	b.lock()
}

// Sessions.

// places puts addresses last that did not answer a moment ago.
func (b *Broker) places() []*place {
	places := append([]*place(nil), b.all...)
	sort.SliceStable(places, func(i, j int) bool {
		return !places[i].isBad() && places[j].isBad()
	})
	return places
}

func (b *Broker) forget(s *session) {
	for i, one := range b.sessions {
		if one == s {
			b.sessions = append(b.sessions[:i:i], b.sessions[i+1:]...)
			return
		}
	}
}

// session is one without holds or requests for these keys; it gets them. It may not
// be open yet.
func (b *Broker) session(keys []string, l *limit) (*session, error) {
	if b.closed {
		return nil, &Error{Code: "closed", Text: "this Broker is closed"}
	}
	var found *session
	for _, s := range b.sessions {
		if s.isFree(keys) {
			found = s
			break
		}
	}
	if found == nil {
		found = newSession(b)
		b.sessions = append(b.sessions, found)
		b.wg.Add(1)
		go found.connect(l)
	}
	for _, key := range keys {
		found.busy[key] = struct{}{}
	}
	return found, nil
}

// open is that session once it is open, or another one.
func (b *Broker) open(ctx context.Context, s *session, keys []string,
	until time.Duration, l *limit) (*session, error) {
	for {
		err := b.await(ctx, s, s.opening(), l)
		if err == nil && s.state == isOpen {
			return s, nil
		}
		b.letGo(s, keys)
		if err != nil {
			left := l.left(b)
			again := left > 0 && !isDone(ctx) && (isAgain(err) ||
				is(err, "unavailable") && tryAgain < min(until-now(), left))
			if !again {
				return nil, err
			}
		}
		b.sleep(ctx, tryAgain)
		if s, err = b.session(keys, l); err != nil {
			return nil, err
		}
	}
}

// await waits for the call, but no longer than the limit allows, nor while the
// broker of the session is silent for longer than its share of that.
func (b *Broker) await(ctx context.Context, s *session, c *call, l *limit) error {
	if !c.woken {
		c.asks, c.limit, c.begun, c.allowed = s, l, b.ran(), forever
		if s.state != isNew {
			// Another address, or, where there is time, this one by another
			// connection.
			others := l.left(b) > 2*l.patience
			for _, p := range b.all {
				others = others || (p != s.place && !p.isBad())
			}
			c.allowed = min(frozen, l.share(b, others))
		}
		b.waits = append(b.waits, c)
		b.arm(now() + b.pace(c))
		if s.ear != nil {
			s.ear.lead(c)
		}
		if !c.woken {
			b.unlock()
			select {
			case <-c.done:
			case <-ctx.Done():
			}
			b.lock()
		}
		for i, one := range b.waits {
			if one == c {
				last := len(b.waits) - 1
				b.waits[i], b.waits[last] = b.waits[last], nil
				b.waits = b.waits[:last]
				break
			}
		}
		if !c.woken {
			return errStopped
		}
	}
	if c.err == nil {
		l.quiet = b.ran()
	}
	return c.err
}

// look abandons a call that takes too long.
func (b *Broker) look(c *call) {
	if c.woken {
		return
	}
	s, l := c.asks, c.limit
	if s.heard > c.begun && s.state != isNew { // it is a broker
		l.quiet = max(l.quiet, s.heard)
	}
	quiet := b.ran() - max(c.begun, s.since)
	if quiet <= c.allowed && l.left(b) > 0 {
		return
	}
	asked := make([]string, 0, len(b.all))
	for _, p := range b.all {
		asked = append(asked, p.text)
	}
	text := strings.Join(asked, ", ")
	if s.place != nil {
		text = s.place.text
	}
	if quiet > c.allowed/2 && s.state != isNew && s.place != nil {
		s.silent = true
		s.place.failed = now()
		text += " does not answer"
	} else {
		text += " did not answer this request in time"
	}
	c.wake(gone(text))
}

func (b *Broker) letGo(s *session, keys []string) {
	for _, key := range keys {
		delete(s.busy, key)
	}
	if len(s.busy) > 0 {
		return
	}
	if len(b.sessions) > idle {
		unused := 0
		for _, one := range b.sessions {
			if len(one.busy) == 0 {
				unused++
			}
		}
		if unused > idle && s.state == isOpen {
			s.state = isShut
		}
	}
	s.tidy()
}

// Requests.

// ask asks until there is an answer: a hold that is safe for some time, or the reply.
// A request that a broker which has gone did not answer is repeated, and so is one
// whose grant was lost before the caller got it, unless its Hold had expired.
func (b *Broker) ask(ctx context.Context, w *want, wait time.Duration) (*hold, *reply, error) {
	begun := now()
	end := forever
	if wait < forever {
		end = begun + wait
	}
	l := b.limit(wait)
	last := w.once
	for tries := 1; ; tries++ {
		if isDone(ctx) {
			return nil, nil, errStopped
		}
		if tries > 2 {
			b.sleep(ctx, tryAgain)
		}
		s, err := b.session(w.busy, l)
		if err == nil && s.state != isOpen {
			s, err = b.open(ctx, s, w.busy, end, l)
		}
		if err != nil {
			return nil, nil, err
		}
		h, r, said, err := b.askOnce(ctx, s, w, func() time.Duration {
			return b.rest(wait, end, l, tries > 1 || b.hasFailed(begun))
		}, l)
		if err == nil {
			if w.verb == "" {
				b.letGo(s, w.busy)
			}
			return h, r, nil
		}
		b.takeBack(s, w, said)
		if last || !isAgain(err) {
			return nil, nil, b.orClosed(err)
		}
		last = l.left(b) <= 0
		s.comesBack(ctx)
	}
}

func (b *Broker) orClosed(err error) error {
	if b.closed && isAgain(err) {
		return &Error{Code: "closed", Text: "this Broker is closed"}
	}
	if e, ok := err.(*LostError); ok {
		return e
	}
	return err
}

// askOnce returns the call that must be taken back if there is an error.
func (b *Broker) askOnce(ctx context.Context, s *session, w *want, rest func() time.Duration,
	l *limit) (*hold, *reply, *call, error) {
	var said *call
	vouched := false
	wait := rest()
	if w.verb != "" && s.mayBeFree(w, wait) {
		said = s.try(w)
		if err := b.await(ctx, s, said, l); err != nil {
			return nil, nil, said, err
		}
		vouched = s.isFinal(said.reply, wait)
		wait = rest()
	}
	if !vouched {
		said = s.take(w, wait)
		if err := b.await(ctx, s, said, l); err != nil {
			return nil, nil, said, err
		}
	}
	if err := said.reply.err(); err != nil {
		return nil, nil, said, err
	}
	h := said.hold
	if w.verb == "" {
		return nil, said.reply, said, nil
	}
	if !vouched {
		if err := b.await(ctx, s, s.ping([]*hold{h}), l); err != nil {
			return nil, nil, said, err
		}
	}
	if !h.over && h.until > now() {
		return h, said.reply, said, nil
	}
	reason := h.why()
	h.lose(reason)
	return nil, nil, said, &Error{Code: "lost", cause: h.err,
		Text: "it was lost (" + reason + ")" + reasons[reason], again: reason != "hold"}
}

// rest is how long the broker is to wait: a broker that is asked because another did
// not answer gets a moment of the patience, though the time may be up.
func (b *Broker) rest(wait, end time.Duration, l *limit, late bool) time.Duration {
	if wait == 0 || end == forever {
		return wait
	}
	rest := max(time.Millisecond, end-now())
	if late {
		rest = max(rest, min(retry, l.left(b)/2))
	}
	return rest
}

func (b *Broker) hasFailed(since time.Duration) bool {
	for _, p := range b.all {
		if p.failed >= since {
			return true
		}
	}
	return false
}

// takeBack ends a request, and releases its grant, also one that is still to come.
func (b *Broker) takeBack(s *session, w *want, said *call) {
	if !said.settled && said.tag > 0 {
		s.send("CANCEL " + itoa(said.tag))
	}
	said.finally(func(r *reply, _ error) {
		if said.hold != nil {
			said.hold.leave()
		}
		if r != nil && isAgain(r.err()) {
			s.shut()
		}
		if r != nil && r.isOK() && w.verb != "" {
			b.undo(s, w)
		} else {
			b.letGo(s, w.busy)
		}
	})
}

// undo releases name by name: if one of several was lost, the others are still held.
// The keys are free when all of it is answered.
func (b *Broker) undo(s *session, w *want) []*call {
	calls := make([]*call, 0, len(w.names))
	for _, name := range w.names {
		calls = append(calls, s.send(w.undo(name)))
	}
	left := len(calls)
	for _, c := range calls {
		c.finally(func(*reply, error) {
			if left--; left == 0 {
				b.letGo(s, w.busy)
			}
		})
	}
	return calls
}

// release releases a hold. If the broker does not answer within the patience, it is
// finished after this call.
func (b *Broker) release(h *hold) error {
	b.lock()
	defer b.unlock()
	if h.given {
		return (&Error{Code: "not-held", Text: "it was given back before"}).about(h.want.names)
	}
	h.given = true
	s, w, l := h.s, h.want, b.limit(0)
	if h.valid() == 0 {
		// A lost hold is released as well: a broker may wait for the word.
		for _, c := range b.undo(s, w) {
			_ = b.await(context.Background(), s, c, l)
		}
		return h.err
	}
	h.leave()
	c := s.send(w.undo(strings.Join(w.names, " ")))
	var each []*call // of several names, where one was lost
	c.finally(func(r *reply, _ error) {
		if r != nil && !r.isOK() && len(w.names) > 1 {
			each = b.undo(s, w)
		} else {
			b.letGo(s, w.busy)
		}
	})
	if err := b.await(context.Background(), s, c, l); err != nil {
		return nil // the broker ends it: it was held until now
	}
	for _, one := range each {
		_ = b.await(context.Background(), s, one, l)
	}
	switch err := c.reply.err(); {
	case err == nil:
		return nil
	case kinds[err.(*Error).Code] == ErrLost:
		h.err = &LostError{Names: w.names, Reason: "unreachable"}
		return h.err
	default:
		return err.(*Error).about(w.names)
	}
}

// setValue asks twice where the session has come back in between.
func (b *Broker) setValue(ctx context.Context, h *hold, value string) error {
	if err := checkWord(value, "bad-option"); err != nil {
		return err
	}
	if h.want.kind != "lock" || len(h.want.names) > 1 {
		return badOption("only a lock of one name has a value")
	}
	b.lock()
	defer b.unlock()
	l := b.limit(0)
	for last := false; ; last = true {
		switch {
		case isDone(ctx):
			return errStopped
		case h.given:
			return &Error{Code: "not-held", Text: "it was given back"}
		case h.valid() == 0:
			return h.err
		}
		c := h.s.send("SETVALUE " + h.want.names[0] + " value=" + value)
		err := b.await(ctx, h.s, c, l)
		if err == nil {
			err = c.reply.err()
		}
		if last || !isAgain(err) {
			return err
		}
		h.s.comesBack(ctx)
	}
}
