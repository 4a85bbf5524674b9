// Package lockbroker takes distributed locks from lockbroker.
//
//	broker, err := lockbroker.Open()
//	...
//	err = broker.Do(ctx, "nightly-report",
//		func(ctx context.Context, lock *lockbroker.Lock) error {
//			return report(ctx, lock.Fence())
//		}, lockbroker.Wait(10*time.Second))
//
// No function is called without its lock, and none goes on unknowingly: when the
// lock is lost, the context is cancelled, with a [LostError] as its cause, before
// somebody else can have it.
//
// There is no sync.Locker: it could report neither that no broker answers nor that
// the lock was lost.
//
// # How it works
//
// A session is one connection to a broker. What it holds is safe until the last
// `valid=` that the broker told it has run out, by this host's own clock and
// counted from when the question was sent. So each grant is followed by a PING
// before the caller has it, and each session asks again every third of what it was
// told. What may be free is asked for in one go with its PING, both without tags,
// so that the one is answered behind the other. On one session there is at most
// one hold or request for a name; a further one takes another session.
//
// No call takes longer than its Wait and the Patience of the [Config]: a request
// that a silent broker leaves unanswered is cancelled, asked of the next address
// while there is time, and undone if it is granted after all.
//
// One mutex guards a Broker and its sessions. A goroutine reads each connection,
// and another one, for all of them, comes when a time is over. Nothing that may
// block is done with the mutex, nor is a context asked anything but for its Done.
package lockbroker
