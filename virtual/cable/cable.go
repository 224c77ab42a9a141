// Package cable is a TCP connection as a bad network makes it: each piece of it is delayed, what is lost is sent again later, and during a
// cut nothing passes and nothing is told. It waits by the clock of the program.
package cable

import (
	"context"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"voltbus/internal/relay"
)

// again is how long the end that sends waits for an answer before it sends again, at first: RFC 6298 has a second, Linux 200 ms.
const again = 200 * time.Millisecond

// Options say how bad the network is.
type Options struct {
	Name   string // of the random numbers
	Seed   uint64
	Delay  time.Duration // in each direction
	Jitter time.Duration // added to it: anything from 0 to this
	Loss   float64       // share of the pieces that are lost at a time, from 0 to less than 1
	Cuts   []Span
}

// Span is a stretch of time, without its end.
type Span struct{ From, To time.Time }

// Cable is a network with one address. Close ends it.
type Cable struct {
	o     Options
	relay *relay.Relay

	mu     sync.Mutex
	random *rand.Rand
	bytes  uint64
}

// Open forwards connections to an address.
func Open(to string, o Options) (*Cable, error) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(o.Name))                                      // it never fails
	c := &Cable{o: o, random: rand.New(rand.NewPCG(o.Seed, h.Sum64()))} //nolint:gosec // a simulation is repeatable
	var err error
	c.relay, err = relay.Open(to, c.carry)
	return c, err
}

// Addr returns where connections are made.
func (c *Cable) Addr() string { return c.relay.Addr() }

// Bytes returns how many passed, in both directions.
func (c *Cable) Bytes() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Close ends all connections.
func (c *Cable) Close() error { return c.relay.Close() }

// carry implements relay.Carry.
func (c *Cable) carry(ctx context.Context, near, far net.Conn) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	context.AfterFunc(ctx, func() { _, _ = near.Close(), far.Close() }) // wakes the readers
	var both sync.WaitGroup
	both.Go(func() { c.copy(ctx, end, far, near) })
	both.Go(func() { c.copy(ctx, end, near, far) })
	both.Wait()
}

// piece is some bytes, and when they arrive. An end of what is sent is a piece of none.
type piece struct {
	data []byte
	at   time.Time
}

// depth is how many pieces are on the way at most; then the sender waits.
const depth = 256

// copy carries one direction, and ends both after it.
func (c *Cable) copy(ctx context.Context, end func(), to io.Writer, from io.Reader) {
	way := make(chan piece, depth)
	var arrive sync.WaitGroup
	arrive.Go(func() {
		defer end()
		c.arrive(ctx, to, way)
	})
	defer arrive.Wait()
	defer close(way)
	for {
		buffer := make([]byte, 16<<10)
		n, err := from.Read(buffer)
		select {
		case <-ctx.Done():
			return
		case way <- piece{buffer[:n], time.Now().Add(c.delay())}:
		}
		if err != nil {
			return
		}
	}
}

// delay returns how long a piece is on the way, with what it takes to send it again.
func (c *Cable) delay() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.o.Delay + time.Duration(c.random.Float64()*float64(c.o.Jitter))
	for wait := again; c.o.Loss > 0 && c.random.Float64() < c.o.Loss; wait = min(2*wait, time.Minute) {
		d += wait
	}
	return d
}

// arrive writes what has been on the way for long enough, in its order.
func (c *Cable) arrive(ctx context.Context, to io.Writer, way <-chan piece) {
	for p := range way {
		if !c.wait(ctx, p.at) {
			continue // until the sender has noticed
		}
		c.mu.Lock()
		c.bytes += uint64(len(p.data))
		c.mu.Unlock()
		if _, err := to.Write(p.data); err != nil || len(p.data) == 0 {
			return
		}
	}
}

// wait returns true when a piece that is due at a moment has passed.
func (c *Cable) wait(ctx context.Context, at time.Time) bool {
	for _, cut := range c.o.Cuts {
		now := time.Now()
		if now.Before(at) {
			now = at
		}
		if !now.Before(cut.From) && now.Before(cut.To) {
			at = cut.To
		}
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
