package cable

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Grade is how bad a cable is. The zero Grade is a good one.
type Grade struct {
	Delay          time.Duration // of all bytes, each way
	BytesPerSecond int           // of each direction, of all connections together; 0 for no bound
	Stalls         float64       // share of the reads that are held
	Stall          time.Duration // for so long, and what follows behind them
}

// Degrade makes the cable as bad as the grade, for connections that are made from now on. seed chooses the reads that stall.
func (c *Cable) Degrade(g Grade, seed int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grade = g
	for i := range c.ways {
		c.ways[i].random = rand.New(rand.NewPCG(uint64(seed), uint64(i)))
	}
}

// way is what one direction of a cable has in common.
type way struct {
	mu     sync.Mutex
	free   time.Time // when what was read before has passed
	random *rand.Rand
}

// due returns when n bytes that were read now have reached the other end.
func (w *way) due(g *Grade, n int, now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.free.Before(now) {
		w.free = now
	}
	if g.BytesPerSecond > 0 {
		w.free = w.free.Add(time.Duration(n) * time.Second / time.Duration(g.BytesPerSecond))
	}
	if g.Stalls > 0 && w.random.Float64() < g.Stalls {
		w.free = w.free.Add(g.Stall)
	}
	return w.free.Add(g.Delay)
}

// parcel is bytes under way.
type parcel struct {
	data []byte
	due  time.Time
}

// underWay bounds the parcels of a connection and direction; who sends more waits.
const underWay = 256

// pass copies one direction of a connection until it ends.
func (c *Cable) pass(to net.Conn, from io.Reader, w *way) {
	c.mu.Lock()
	g := c.grade
	c.mu.Unlock()
	if g == (Grade{}) {
		_, _ = io.Copy(to, from) // ends with the connection
		return
	}
	parcels := make(chan parcel, underWay)
	var writing sync.WaitGroup
	writing.Go(func() {
		failed := false
		for p := range parcels {
			if failed {
				continue // what is read is taken, so that reading ends
			}
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				failed = true
			}
		}
	})
	for {
		data := make([]byte, 4096)
		n, err := from.Read(data)
		if n > 0 {
			parcels <- parcel{data[:n], w.due(&g, n, time.Now())}
		}
		if err != nil {
			break
		}
	}
	close(parcels)
	writing.Wait()
}
