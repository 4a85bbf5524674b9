package lockbroker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors that errors.Is finds in an error of this package.
var (
	// ErrBusy: another client holds it, and the request was not to wait.
	ErrBusy = errors.New("lockbroker: held by another")
	// ErrTimeout: it was not granted within its Wait.
	ErrTimeout = errors.New("lockbroker: not granted in time")
	// ErrLost: it is no longer held, though it was not released.
	ErrLost = errors.New("lockbroker: lost")
	// ErrUnavailable: no broker answers, or it cannot grant anything now.
	ErrUnavailable = errors.New("lockbroker: no broker can grant it")
	// ErrDenied: the user or the password is wrong, or the user has no right to
	// the name.
	ErrDenied = errors.New("lockbroker: denied")
	// ErrDeadlock: it would wait for itself, or sessions for each other, forever.
	ErrDeadlock = errors.New("lockbroker: deadlock")
	// ErrClosed: the Broker has been closed.
	ErrClosed = errors.New("lockbroker: closed")
)

var kinds = map[string]error{
	"busy": ErrBusy, "timeout": ErrTimeout,
	"lost": ErrLost, "not-held": ErrLost,
	"unavailable": ErrUnavailable, "shutdown": ErrUnavailable,
	"auth": ErrDenied, "denied": ErrDenied,
	"deadlock": ErrDeadlock, "closed": ErrClosed,
}

// An Error is a request that was refused, or that failed. Holder, Broker, Age and
// Before describe the holder of the name, as far as the broker knows it.
type Error struct {
	Code   string        // for programs; see lockbroker-protocol(7)
	Text   string        // for users
	Names  []string      // of the request
	Holder string        // its label or address
	Broker string        // the holder's
	Age    time.Duration // since the grant
	Before int           // the number of requests ahead

	cause error // of a Context
	again bool  // it is to be asked again
}

// Error is the text, after the names.
func (e *Error) Error() string {
	text := e.Text
	if text == "" {
		text = e.Code
	}
	if len(e.Names) == 0 {
		return "lockbroker: " + text
	}
	return fmt.Sprintf("lockbroker: %s: %s", strings.Join(e.Names, ", "), text)
}

// Is compares the error with its kind, for errors.Is.
func (e *Error) Is(kind error) bool {
	return kinds[e.Code] == kind
}

// Unwrap returns why the context ended the wait, if it did.
func (e *Error) Unwrap() error {
	return e.cause
}

func (e *Error) about(names []string) *Error {
	if e.Names == nil {
		e.Names = names
	}
	return e
}

// A LostError says that a lock was lost: it is the cause of the lock's context, and
// the error that Unlock and Err return from then on.
type LostError struct {
	Names []string
	// Reason is "hold" (its Hold has expired), "unreachable", "taken", "failover",
	// "forced", "drill", "shutdown", "closed" (its Broker was), or says how the
	// connection was lost.
	Reason string
}

var reasons = map[string]string{
	"unreachable": ": no broker could confirm it in time",
	"hold":        ": its Hold is over",
	"forced":      ": an administrator ended it",
	"taken":       ": somebody else has it in Redis",
	"shutdown":    ": the broker stops",
	"closed":      ": its Broker was closed",
	"drill":       ": this is a drill; let go of it now",
}

// Error names the lost lock, and the reason.
func (e *LostError) Error() string {
	return fmt.Sprintf("lockbroker: %s was lost (%s)%s", strings.Join(e.Names, ", "),
		e.Reason, reasons[e.Reason])
}

// Is says that it is ErrLost.
func (e *LostError) Is(kind error) bool {
	return kind == ErrLost
}

func gone(text string) *Error {
	return &Error{Code: "unavailable", Text: text, again: true}
}

func badOption(format string, args ...any) *Error {
	return &Error{Code: "bad-option", Text: fmt.Sprintf(format, args...)}
}

// errStopped: the context has ended the wait. Its error is asked for without the
// mutex, as it may be the context of a Lock, which needs that.
var errStopped = &Error{Code: "cancelled"}

func isDone(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// told is the error that a program gets.
func told(ctx context.Context, err error, names []string) error {
	if err == errStopped {
		err = stopped(ctx)
	}
	return named(err, names)
}

func named(err error, names []string) error {
	if e, ok := err.(*Error); ok {
		return e.about(names)
	}
	return err
}

// stopped is the error of a wait that its context has ended.
func stopped(ctx context.Context) *Error {
	cause := context.Cause(ctx)
	if err := ctx.Err(); err != cause {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	return &Error{Code: "cancelled", Text: cause.Error(), cause: cause}
}

// is checks an error of this package that is not wrapped yet.
func is(err error, code string) bool {
	e, ok := err.(*Error)
	return ok && e.Code == code
}

func isAgain(err error) bool {
	e, ok := err.(*Error)
	return ok && e.again
}
