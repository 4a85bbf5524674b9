// Package lockbroker takes distributed locks from lockbroker.
//
//	broker, err := lockbroker.Open()
//	...
//	err = broker.Do(ctx, "nightly-report",
//		func(ctx context.Context, lock *lockbroker.Lock) error {
//			return report(ctx, lock.Fence())
//		}, lockbroker.Wait(10*time.Second))
//
// A function runs only with its lock held, and learns of a loss: when the lock is
// lost, the context is cancelled, with a [LostError] as its cause, before another
// client can get it.
//
// The package has no sync.Locker: it could report neither that no broker answers nor
// that the lock was lost.
//
// # How it works
//
// A session is one connection to a broker. Its holds are safe until the last
// `valid=` from the broker expires, by this host's own clock and counted from when
// the question was sent. So each grant is followed by a PING before the caller gets
// it, and each session asks again every third of that time. A name that may be free
// is asked for together with its PING, both without tags, so that the replies come
// in that order. On one session there is at most one hold or request for a name; a
// further one takes another session.
//
// No call takes longer than its Wait and the Patience of the [Config]: a request
// that an unresponsive broker leaves unanswered is cancelled, asked of the next
// address while there is time, and undone if it is granted after all.
//
// One mutex guards a Broker and its sessions. A caller that waits for an answer reads
// the connection; where no caller waits, a goroutine of the connection does. Another
// goroutine, for all connections, runs when a time has expired. Nothing that may block
// is done with the mutex, and of a context only Done is called.
package lockbroker
