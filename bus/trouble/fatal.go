package trouble

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Fatal is why a server gave up while it started. The zero Fatal knows of nothing. It is safe for concurrent use.
type Fatal struct{ why atomic.Pointer[string] }

// Note keeps what the server said first.
func (f *Fatal) Note(why string) { f.why.CompareAndSwap(nil, &why) }

// fatalEvery is how long a server is waited for before it is asked whether it has given up.
const fatalEvery = 100 * time.Millisecond

// Await waits until a server is ready, for limit at most; ready waits for a while itself. The error says why it never will be.
func (f *Fatal) Await(ready func(time.Duration) bool, limit time.Duration) error {
	for end := time.Now().Add(limit); !ready(fatalEvery); {
		if why := f.why.Load(); why != nil {
			return fmt.Errorf("the bus cannot start: %s", *why)
		}
		if time.Now().After(end) {
			return fmt.Errorf("the bus did not start within %v; is another process writing to the data directory?", limit)
		}
	}
	return nil
}
