package lockbroker

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	forever  = time.Duration(1<<63 - 1)
	tryAgain = 100 * time.Millisecond // between attempts to find a broker
	silence  = 10 * time.Second       // without a Wait, so long no broker may answer
	// An address that did not answer is tried last for so long.
	failedFor = 10 * time.Second
	// A broker that says nothing for so long is given up.
	frozen  = 5 * time.Second
	connect = 3 * time.Second // for one address
	brief   = time.Second     // an answer is older than its arrival by less
	room    = 16384           // bytes of the longest line
	quit    = time.Second     // so long an answer to QUIT is waited for
	// A request waits for its session to come back for so long.
	moment = time.Second
	wary   = 8 // so often a lock is waited for at once after one was not free
	// What ends by Hold: that bounds the `valid=` of all that its session has, so
	// that it gets a session of its own.
	alone = "alone"
)

// A want is what is asked for: its words, and those that give it back.
type want struct {
	kind  string
	names []string
	keys  []string // KIND NAME of each
	busy  []string // what its session has to do with it
	line  string
	verb  string // that gives it back; "" if there is nothing to give
	tail  string // of the same
	hold  time.Duration
	delay time.Duration
	once  bool // it must not be asked twice
	whole bool // it excludes all others
	brief bool // it has no wait= of its own
}

func (w *want) undo(names string) string {
	return w.verb + " " + names + w.tail
}

// A hold is what a session has been granted: locks, or permits of a semaphore.
type hold struct {
	s      *session
	want   *want
	fences []uint64
	slot   int           // -1: it has none
	ends   time.Duration // by its Hold, or a little earlier
	until  time.Duration // by now(); 0: no PING has covered it yet
	over   bool          // lost, or given back
	given  bool          // somebody has called Unlock
	err    error         // how it was lost
	ctx    context.Context
	cancel context.CancelCauseFunc // of ctx, both made when somebody asks
}

func (h *hold) lose(reason string) {
	if h.over {
		return
	}
	h.err = &LostError{Names: h.want.names, Reason: reason}
	h.leave()
}

func (h *hold) leave() {
	h.over = true
	delete(h.s.holds, h)
	if h.cancel != nil {
		h.cancel(h.err)
	}
}

// valid: for so long nobody else can have it. Where that is 0, it is lost.
func (h *hold) valid() time.Duration {
	if h.over {
		return 0
	}
	left := h.until - now()
	if left > 0 {
		return left
	}
	h.s.drop(h.why())
	return 0
}

// why the last `valid=` is over: its Hold bounded it, or no other came.
func (h *hold) why() string {
	if h.ends-h.until < brief {
		return "hold"
	}
	return "unreachable"
}

// A call is a request that waits for its reply.
type call struct {
	done    chan struct{} // closed when somebody need not wait any longer
	woken   bool          // it is
	reply   *reply
	err     error
	settled bool                // the broker has answered, or never will
	at      func(*reply)        // before anything that it says later is looked at
	then    func(*reply, error) // once it is settled, whoever waits or not
	hold    *hold               // what it was granted
	tag     int                 // 0: it has none
	limit   *limit              // of who waits
	allowed time.Duration       // so long the broker may say nothing at all
	begun   time.Duration       // by ran()
	asks    *session
}

func newCall() *call {
	return &call{done: make(chan struct{})}
}

// wake lets who waits go on.
func (c *call) wake(err error) {
	if !c.woken {
		c.woken, c.err = true, err
		close(c.done)
	}
}

func (c *call) settle(r *reply, err error) {
	if c.settled {
		return
	}
	c.settled, c.reply = true, r
	if r != nil && c.at != nil {
		c.at(r)
	}
	c.wake(err)
	if c.then != nil {
		c.then(r, err)
	}
}

// finally has this done once the call is settled.
func (c *call) finally(then func(*reply, error)) {
	if c.settled {
		then(c.reply, c.err)
	} else {
		c.then = then
	}
}

// The state of a session.
type state int

const (
	isNew  state = iota // it is being made
	isOpen              // it takes requests
	isShut              // it takes no more of them
	isAway              // its connection is lost, and it may come back
	isGone
)

// A session is one connection to a broker, what is asked and held there, and the
// clock by which it is safe. All of it is guarded by the mutex of its Broker.
type session struct {
	b      *Broker
	state  state
	place  *place
	conn   net.Conn // nil: there is none
	raw    net.Conn // the same without TLS
	ear    *ear     // of the same
	key    string
	silent bool                // a request was given up; nothing came since
	busy   map[string]struct{} // keys that are held or asked for here
	holds  map[*hold]struct{}
	calls  map[int]*call // by tag
	tried  []*call       // without tags, so in order
	opens  []*call       // who waits until it is open
	err    error         // why it never was
	home   chan struct{} // closed once it is known whether it comes back
	tag    int
	wary   int // so often a lock is not tried before it is waited for
	out    []byte
	spare  []byte
	writes bool          // somebody writes
	pings  bool          // a PING is under way
	heard  time.Duration // by ran()
	since  time.Duration // its silence counts from then on, by ran()
	asked  time.Duration // when the last PING was sent, by now()
	rows   *reply        // whose lines are being read
	left   int           // so many of them
	whose  int           // the tag of that reply
}

func newSession(b *Broker) *session {
	return &session{b: b, busy: map[string]struct{}{}, holds: map[*hold]struct{}{},
		calls: map[int]*call{}, heard: never, since: b.ran()}
}

// The connection.

// connect goes to the first address that answers.
func (s *session) connect(l *limit) {
	b := s.b
	defer b.wg.Done()
	var why []string
	b.lock()
	defer b.unlock()
	places := b.places()
	for i, p := range places {
		if i > 0 && l.left(b) <= 0 {
			why = append(why, p.text+": not tried, out of time")
			continue
		}
		err := s.greet(p, min(connect, l.share(b, i+1 < len(places))))
		if err == nil {
			s.place = p
			if s.state == isNew {
				s.state = isOpen
			}
			s.opened(nil)
			return
		}
		if e, ok := err.(*Error); ok && kinds[e.Code] != ErrUnavailable && e.Code != "limit" {
			s.drop("")
			s.opened(err)
			return
		}
		p.failed = now()
		why = append(why, p.text+": "+strings.TrimPrefix(err.Error(), "lockbroker: "))
		if s.state == isGone {
			break // it said that it stops, or all is closed
		}
	}
	s.drop("")
	s.opened(&Error{Code: "unavailable", Text: "no broker answers (" +
		strings.Join(why, "; ") + ")"})
}

func (s *session) opened(err error) {
	s.err = err
	for _, c := range s.opens {
		c.settle(nil, err)
	}
	s.opens = nil
}

// opening is settled once it is open, or never will be.
func (s *session) opening() *call {
	c := newCall()
	if s.state == isNew {
		s.opens = append(s.opens, c)
	} else {
		c.settle(nil, s.err)
	}
	return c
}

// greet asks for a session, of an older broker, and where there is no place for
// its grace, for less.
func (s *session) greet(p *place, patience time.Duration) error {
	b := s.b
	for {
		why, grace := b.why, b.grace
		hello := "SESSION" + why
		if b.config.Label != "" {
			hello += " label=" + b.config.Label
		}
		if grace > 0 {
			hello += " grace=" + duration(grace)
		}
		r, err := s.dial(p, hello, patience)
		switch {
		case err == nil:
			s.key = r.get("key")
			return nil
		case is(err, "bad-option") && why != "":
			b.why = ""
		case is(err, "limit") && grace > 0:
			b.withoutGrace(err)
		default:
			return err
		}
	}
}

// dial makes a connection to a place, and says what is to be said first there. A
// frozen broker is connected, too: only an answer tells.
func (s *session) dial(p *place, hello string, patience time.Duration) (*reply, error) {
	b := s.b
	b.unlock()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	conn, raw, err := b.connectTo(ctx, p)
	b.lock()
	if err != nil {
		return nil, plainly(err)
	}
	if s.state == isGone {
		raw.Close()
		return nil, gone("closed")
	}
	s.attach(p, conn, raw)
	var login *call
	if b.config.User != "" {
		login = s.say("AUTH "+b.config.User+" "+b.config.Password, nil)
	}
	said := s.say(hello, nil)
	for _, c := range []*call{login, said} {
		if c == nil {
			continue
		}
		err = s.reply(ctx, c)
		if err != nil {
			if s.conn == conn {
				s.conn, s.raw = nil, nil
			}
			raw.Close()
			s.fail(nil)
			return nil, err
		}
	}
	return said.reply, nil
}

// reply waits for it, and returns the error that it is.
func (s *session) reply(ctx context.Context, c *call) error {
	if !c.woken {
		s.b.unlock()
		select {
		case <-c.done:
		case <-ctx.Done():
		}
		s.b.lock()
	}
	switch {
	case !c.woken:
		return gone("no answer")
	case c.err != nil:
		return c.err
	}
	return c.reply.err()
}

// plainly leaves out of an error what the reader knows.
func plainly(err error) error {
	var op *net.OpError
	var call *os.SyscallError
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("no answer")
	case errors.As(err, &call):
		return call.Err
	case errors.As(err, &op):
		return op.Err
	}
	return err
}

func (s *session) attach(p *place, conn, raw net.Conn) {
	if s.raw != nil {
		s.raw.Close()
	}
	s.conn, s.raw = conn, raw
	s.ear = &ear{s: s, conn: conn, wake: make(chan struct{}, 1), buf: make([]byte, room)}
	s.out, s.rows, s.pings = s.out[:0], nil, false
	s.b.wg.Add(1)
	go s.ear.listen(raw)
}

func (s *session) hears() {
	s.heard = s.b.ran()
	s.since, s.silent = s.heard, false
}

// cut: the connection has ended.
func (s *session) cut(err error) {
	if s.raw != nil {
		s.raw.Close()
	}
	s.conn, s.raw = nil, nil
	switch {
	case s.state == isNew || s.state == isAway:
		s.fail(gone("the connection is lost"))
	case (len(s.holds) > 0 || s.isAsked()) && s.key != "" && s.b.grace > 0 && !s.b.closed:
		s.state, s.home = isAway, make(chan struct{})
		s.fail(nil)
		s.b.wg.Add(1)
		go s.comeBack(now() + s.b.grace)
	case err.Error() == "EOF":
		s.drop("the connection is lost")
	default:
		s.drop(plainly(err).Error())
	}
}

// comeBack looks for the session as long as the broker keeps it, though it may
// hold nothing here: the broker knows what it was granted, and was not told of
// what was given back meanwhile.
func (s *session) comeBack(end time.Duration) {
	b := s.b
	defer b.wg.Done()
	b.lock()
	defer b.unlock()
	for ended := 0; now() < end && ended < len(b.all) && s.state == isAway; {
		ended = 0
		for _, p := range b.all {
			if s.state != isAway {
				break
			}
			_, err := s.dial(p, "RESUME key="+s.key, min(max(end-now(), 1), connect))
			if err == nil && s.sort() == nil {
				s.place = p
				if s.state == isAway {
					s.state = isOpen
				}
				close(s.home)
				s.tidy()
				return
			}
			if is(err, "not-found") {
				ended++
			}
		}
		if s.state == isAway && ended < len(b.all) {
			b.sleep(b.ctx, tryAgain)
		}
	}
	close(s.home)
	s.drop("unreachable")
}

// sort: what was asked for when the connection was lost may have been granted,
// and what is held here may have been lost. The broker lists what there is.
func (s *session) sort() error {
	ctx, cancel := context.WithTimeout(s.b.ctx, connect)
	defer cancel()
	list := s.say("LIST", nil)
	if err := s.reply(ctx, list); err != nil {
		return err
	}
	listed := map[string]string{}
	for _, row := range list.reply.rows {
		if words := strings.SplitN(row, " ", 3); len(words) > 1 {
			listed[words[0]+" "+words[1]] = row
		}
	}
	var kept []*hold
	for h := range s.holds {
		there := true
		for _, key := range h.want.keys {
			there = there && listed[key] != ""
		}
		if !there {
			h.lose("unreachable")
			continue
		}
		kept = append(kept, h)
		for _, key := range h.want.keys {
			delete(listed, key)
		}
	}
	for key, row := range listed {
		kind, name, _ := strings.Cut(key, " ")
		switch kind {
		case "lock":
			s.say("UNLOCK "+name, nil)
		case "semaphore":
			s.say("RELEASE "+name+" permits="+field(row, "permits"), nil)
		}
	}
	if err := s.reply(ctx, s.ping(s.held())); err != nil {
		return err
	}
	for _, h := range kept {
		// One that was given back between the two answers: send() could not say it.
		for _, name := range h.want.names {
			if h.given {
				s.say(h.want.undo(name), nil)
			}
		}
	}
	return nil
}

// drop gives the session up, and with it all that it has.
func (s *session) drop(reason string) {
	if s.state == isGone {
		return
	}
	// Who still holds something may go on until that is over: a reset, unlike an
	// end, keeps it from others until then. Nor may an end cut the Delay off, which
	// begins with a loss.
	promised := false
	for h := range s.holds {
		promised = promised || h.until > now() || h.want.delay > 0
	}
	s.state = isGone
	for h := range s.holds {
		h.lose(reason)
	}
	s.b.forget(s)
	s.fail(nil)
	s.close(promised)
}

// close ends the connection: with a word, and when the broker has heard it, or
// by a reset.
func (s *session) close(reset bool) {
	conn, raw := s.conn, s.raw
	s.conn, s.raw = nil, nil
	if conn == nil {
		return
	}
	if reset {
		if tcp, ok := raw.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		raw.Close()
		return
	}
	out := append(s.out, "QUIT\r\n"...)
	s.out = nil
	if s.writes { // who writes would be in between
		raw.Close()
		return
	}
	if s.ear.by == listener {
		_ = conn.SetReadDeadline(time.Now().Add(quit))
	}
	s.ear.rouse()
	s.b.later = append(s.b.later, func() {
		_ = conn.SetWriteDeadline(time.Now().Add(quit / 2))
		if _, err := conn.Write(out); err != nil {
			raw.Close()
		}
	})
}

// fail ends all calls.
func (s *session) fail(err error) {
	if err == nil {
		err = gone("the broker does not answer")
		if s.place != nil {
			err = gone(s.place.text + " does not answer")
		}
	}
	tried, calls := s.tried, s.calls
	s.tried, s.calls, s.pings = nil, map[int]*call{}, false
	for _, c := range tried {
		c.settle(nil, err)
	}
	for _, c := range calls {
		c.settle(nil, err)
	}
}

// What the broker says.

// lines understands all that is whole, and returns the rest.
func (s *session) lines(conn net.Conn, data []byte) []byte {
	for s.conn == conn {
		line, rest, ok := nextLine(data)
		if !ok {
			break
		}
		data = rest
		s.line(line)
	}
	return data
}

func (s *session) line(line string) {
	switch {
	case s.rows != nil:
		s.rows.rows = append(s.rows.rows, line)
		if s.left--; s.left == 0 {
			r := s.rows
			s.rows = nil
			s.answered(s.whose, r)
		}
	case strings.HasPrefix(line, "!"):
		s.event(line)
	default:
		tag, text := 0, line
		if strings.HasPrefix(line, "@") {
			word, rest, _ := strings.Cut(line[1:], " ")
			tag, _ = strconv.Atoi(word)
			if tag == 0 {
				tag = -1 // nobody's
			}
			text = rest
		}
		r := &reply{text: text}
		if r.isOK() {
			s.left = r.number("lines")
		}
		if r.isOK() && s.left > 0 {
			s.rows, s.whose = r, tag
		} else {
			s.answered(tag, r)
		}
	}
}

func (s *session) answered(tag int, r *reply) {
	var c *call
	if tag == 0 && len(s.tried) > 0 {
		c, s.tried = s.tried[0], s.tried[1:]
	} else {
		c = s.calls[tag]
		delete(s.calls, tag)
	}
	switch {
	case c != nil:
		c.settle(r, nil)
	case tag != 0: // somebody has given it up
	case r.err() != nil: // it is to no request
		s.fail(r.err())
	default:
		s.drop("that is no broker")
	}
}

func (s *session) event(text string) {
	what, rest, _ := strings.Cut(text, " ")
	name, _, _ := strings.Cut(rest, " ")
	switch what {
	case "!LOST":
		kind := field(text, "kind")
		if kind == "" {
			kind = "lock"
		}
		fence, _ := strconv.ParseUint(field(text, "fence"), 10, 64)
		for h := range s.holds {
			for i, key := range h.want.keys {
				if key == kind+" "+name &&
					(fence == 0 || i >= len(h.fences) || fence >= h.fences[i]) {
					h.lose(field(text, "reason"))
				}
			}
		}
	case "!SHUTDOWN", "!LEAVING":
		s.shut()
		if what == "!SHUTDOWN" {
			for h := range s.holds {
				h.lose("shutdown")
			}
		}
		s.tidy()
	}
}

// shut: it takes no more requests.
func (s *session) shut() {
	if s.state == isGone {
		return
	}
	s.state = isShut
	if s.place != nil {
		s.place.failed = now()
	}
}

// tidy ends it if there is nothing left to do.
func (s *session) tidy() {
	if s.state == isShut && len(s.busy) == 0 && !s.isAsked() {
		s.drop("")
	}
}

// Its own clock.

// safe: until then all that it has is safe.
func (s *session) safe() time.Duration {
	least := forever
	for h := range s.holds {
		if h.until > 0 {
			least = min(least, h.until)
		}
	}
	return least
}

// tick asks how long what it has is safe, and says when that is over. A broker
// that says nothing is given up, as it may be frozen.
func (s *session) tick() {
	if s.state == isGone {
		return
	}
	at := now()
	isFrozen := s.isAsked() && s.b.ran()-s.since > frozen
	if s.safe() <= at || (isFrozen && len(s.holds) == 0 && s.state != isNew) {
		reason := "unreachable"
		for h := range s.holds {
			if h.until > 0 && h.until <= at {
				reason = h.why()
			}
		}
		s.drop(reason)
		return
	}
	if len(s.holds) == 0 && !s.isAsked() {
		return
	}
	every := s.every()
	if s.state != isAway && s.state != isNew && !s.pings && at >= s.asked+every {
		s.ping(s.held())
	}
	s.b.arm(min(s.safe(), max(s.asked+every, at+every/4)))
}

// every: so often it asks.
func (s *session) every() time.Duration {
	return max(20*time.Millisecond, min(s.safe()-now(), s.b.brisk(s))/3)
}

func (s *session) held() []*hold {
	held := make([]*hold, 0, len(s.holds))
	for h := range s.holds {
		held = append(held, h)
	}
	return held
}

// ping: what was granted before this is safe for as long as the broker says.
func (s *session) ping(holds []*hold) *call {
	sent := now()
	s.asked, s.pings = sent, true
	c := s.say("PING", func(r *reply) {
		s.covers(holds, sent, r)
	})
	c.finally(func(*reply, error) { s.pings = false })
	return c
}

func (s *session) covers(holds []*hold, sent time.Duration, r *reply) {
	valid := parseDuration(r.get("valid"))
	if valid == 0 {
		return
	}
	for _, h := range holds {
		h.until = max(h.until, sent+valid)
	}
	s.b.arm(sent + min(valid, frozen)/3)
}

// Requests.

// isFree: can these keys be entered here?
func (s *session) isFree(keys []string) bool {
	if len(s.tried) > 0 || s.silent || (s.state != isOpen && s.state != isNew) {
		return false
	}
	if len(s.busy) == 0 {
		return true
	}
	if _, there := s.busy[alone]; there {
		return false
	}
	for _, key := range keys {
		if _, there := s.busy[key]; there || key == alone {
			return false
		}
	}
	return true
}

// mayBeFree: is the lock perhaps free, and nothing else to do here? Then it is
// tried first: without tags a PING is answered right behind it, but nothing else
// is meanwhile.
func (s *session) mayBeFree(w *want, rest time.Duration) bool {
	if len(s.busy) > len(w.busy) || len(s.holds) > 0 || s.isAsked() {
		return false
	}
	if rest == 0 || s.wary == 0 {
		return true
	}
	s.wary--
	return false
}

// isFinal: is the answer to such a try the one to the request?
func (s *session) isFinal(r *reply, rest time.Duration) bool {
	if r.isOK() || rest == 0 || !(strings.HasPrefix(r.text, "BUSY") ||
		strings.HasPrefix(r.text, "ERR unavailable ")) {
		return true
	}
	s.wary = wary
	return false
}

// take asks, for so long.
func (s *session) take(w *want, rest time.Duration) *call {
	line := w.line
	if rest < forever && !w.brief {
		line += " wait=" + duration(rest)
	}
	var c *call
	c = s.say(line, func(r *reply) { c.hold = s.granted(w, r) })
	return c
}

// try asks for the same at once or not at all, and what is granted is safe when
// the call is settled. No others use this session until it has been answered.
func (s *session) try(w *want) *call {
	c := newCall()
	if s.conn == nil {
		c.settle(nil, gone("the connection is lost"))
		return c
	}
	sent := now()
	lock, pong := newCall(), newCall()
	lock.then = func(r *reply, err error) {
		if r != nil {
			c.reply, c.hold = r, s.granted(w, r)
		}
		if c.hold == nil {
			c.settle(r, err)
		}
	}
	pong.then = func(r *reply, err error) {
		if c.hold == nil {
			return
		}
		if r != nil {
			s.covers([]*hold{c.hold}, sent, r)
		} else {
			c.hold.leave()
			c.hold = nil
			c.reply = nil
		}
		c.settle(c.reply, err)
	}
	s.hush()
	s.asked = sent
	s.tried = append(s.tried, lock, pong)
	s.write(w.line + " wait=0\r\nPING\r\n")
	return c
}

func (s *session) granted(w *want, r *reply) *hold {
	if !r.isOK() || w.verb == "" {
		return nil
	}
	h := &hold{s: s, want: w, slot: -1, ends: forever}
	if slot, err := strconv.Atoi(r.get("slot")); err == nil {
		h.slot = slot
	}
	if w.hold > 0 {
		h.ends = now() + w.hold
	}
	for _, word := range strings.Split(r.get("fence"), ",") {
		if fence, err := strconv.ParseUint(word, 10, 64); err == nil {
			h.fences = append(h.fences, fence)
		}
	}
	s.holds[h] = struct{}{}
	return h
}

// send is say, but not while the session may come back.
func (s *session) send(line string) *call {
	if s.state == isAway {
		c := newCall()
		c.settle(nil, gone("the connection is lost"))
		return c
	}
	return s.say(line, nil)
}

// say asks. `at` is called with the reply before anything that the broker says
// later is looked at.
func (s *session) say(line string, at func(*reply)) *call {
	c := newCall()
	c.at = at
	if s.conn == nil {
		c.settle(nil, gone("the connection is lost"))
		return c
	}
	s.hush()
	s.tag++
	c.tag = s.tag
	s.calls[c.tag] = c
	s.write("@" + strconv.Itoa(c.tag) + " " + line + "\r\n")
	return c
}

// hush: from now on the broker's silence counts, unless it does already.
func (s *session) hush() {
	if !s.isAsked() {
		s.since = s.b.ran()
	}
}

func (s *session) isAsked() bool {
	return len(s.calls)+len(s.tried) > 0
}

// write has it written when the mutex is free again.
func (s *session) write(text string) {
	if len(s.out) == 0 {
		s.b.dirty = append(s.b.dirty, s)
	}
	s.out = append(s.out, text...)
	s.b.arm(now() + frozen/3)
}

// flush writes what there is, without the mutex. What is said meanwhile is
// written by whoever writes already.
func (s *session) flush() {
	for b := s.b; ; {
		b.mu.Lock()
		if s.writes || len(s.out) == 0 || s.conn == nil {
			b.mu.Unlock()
			return
		}
		conn, out := s.conn, s.out
		s.writes, s.out = true, s.spare[:0]
		b.mu.Unlock()
		_ = conn.SetWriteDeadline(time.Now().Add(b.config.Patience / 2))
		_, err := conn.Write(out)
		b.lock()
		s.writes, s.spare = false, out
		if err != nil && s.conn == conn {
			s.cut(err)
		}
		b.unlock()
	}
}

func (b *Broker) connectTo(ctx context.Context, p *place) (conn, raw net.Conn, err error) {
	var dialer net.Dialer
	raw, err = dialer.DialContext(ctx, p.network, p.address)
	if err != nil || !p.secure {
		return raw, raw, err
	}
	config := b.config.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName = p.host
	}
	secure := tls.Client(raw, config)
	if err = secure.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, nil, err
	}
	return secure, raw, nil
}
