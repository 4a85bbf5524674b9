package lockbroker

import (
	"errors"
	"net"
	"os"
	"time"
)

// Who waits for an answer reads for so long; after that nobody does for so long.
const lead = 5 * time.Millisecond

// An ear hears what the broker says on one connection. One goroutine reads at a
// time: one that waits for an answer, as to hand that over takes longer than to read
// it; else that of listen(). All of it is guarded by the mutex of the Broker.
type ear struct {
	s    *session
	conn net.Conn
	buf  []byte
	n    int // so much of it is there
	by   reader
	led  time.Duration // a caller has read until then
	wake chan struct{} // for listen()
}

type reader int

const (
	nobody reader = iota
	listener
	caller
)

// listen reads where no caller does, until the connection ends.
func (e *ear) listen(raw net.Conn) {
	b := e.s.b
	defer b.wg.Done()
	defer raw.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for over := false; !over; {
		b.lock()
		for e.by == caller || (e.isOpen() && !e.s.isAsked() && now() < e.led+lead) {
			b.unlock()
			timer.Reset(lead)
			select {
			case <-timer.C:
			case <-e.wake:
			}
			b.lock()
		}
		var end time.Time
		if !e.isOpen() { // only its end is waited for
			end = time.Now().Add(quit)
		}
		over = e.hear(listener, end) != nil
		e.by = nobody
		b.unlock()
	}
}

// lead reads for a moment, until this call need not wait, unless somebody reads.
func (e *ear) lead(c *call) {
	if e.by != nobody || !e.isOpen() {
		return
	}
	end := time.Now().Add(lead)
	for err := error(nil); err == nil && !c.woken && e.isOpen(); {
		err = e.hear(caller, end)
	}
	e.by, e.led = nobody, now()
	if !e.isOpen() || e.s.isAsked() {
		e.rouse()
	}
}

// rouse has listen() look whether it is to read.
func (e *ear) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// isOpen: is it the connection of its session?
func (e *ear) isOpen() bool {
	return e.s.conn == e.conn
}

// hear reads once, without the mutex, until then.
func (e *ear) hear(by reader, end time.Time) error {
	s := e.s
	e.by = by
	_ = e.conn.SetReadDeadline(end)
	s.b.unlock()
	m, err := e.conn.Read(e.buf[e.n:])
	s.b.lock()
	if !e.isOpen() {
		e.n = 0
		return err
	}
	e.n += m
	if m > 0 {
		s.hears()
		e.n = copy(e.buf, s.lines(e.conn, e.buf[:e.n]))
	}
	if err == nil && e.n == len(e.buf) {
		err = errors.New(strangers(string(e.buf[:40])))
	}
	if err != nil && e.isOpen() && !errors.Is(err, os.ErrDeadlineExceeded) {
		s.cut(err)
	}
	return err
}
