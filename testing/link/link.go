// Package link simulates a bad network between two programs: cut, slow, delayed, or broken in one direction. It carries the bytes of TCP
// connections on loopback, and never changes or reorders them.
package link

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"voltbus/internal/relay"
)

// The directions of a link.
const (
	Up   direction = iota // from who dials to who listens
	Down                  // back
)

type direction int

// Link is a network with one address. It is safe for concurrent use, and ends with its test.
type Link struct {
	relay *relay.Relay

	mu      sync.Mutex
	conns   map[*wire]bool
	changed chan struct{} // closed when something below changes
	held    [2]bool
	delay   time.Duration
	rate    int64
	free    [2]time.Time // when the bytes that passed are paid
	life    int64
	carried [2]int64
}

// New returns a link that leads nowhere yet: connections to it end at once.
func New(t testing.TB) *Link {
	t.Helper()
	l := &Link{conns: map[*wire]bool{}, changed: make(chan struct{})}
	var err error
	if l.relay, err = relay.Open("", l.carry); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.relay.Close() }) // what listens on loopback is gone in any case
	return l
}

// Addr returns where the link is dialed.
func (l *Link) Addr() string { return l.relay.Addr() }

// Lead says where new connections go; nowhere with "". Those that are open stay.
func (l *Link) Lead(to string) { l.relay.Lead(to) }

// Cut ends all connections. New ones can be made at once.
func (l *Link) Cut() { l.relay.Cut() }

// Strand ends all connections for those who dialed, as when their machine loses power or its address: the
// other end learns nothing of it, nor receives anything else, and what it sends is lost. New ones can be made at once.
func (l *Link) Strand() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.conns {
		w.strand()
	}
}

// Hold lets nothing through in a direction, until it is told otherwise: what was sent waits, as when
// packets are lost and sent again. So does the end of a connection: the other end learns nothing of it.
func (l *Link) Hold(d direction, hold bool) { l.set(func() { l.held[d] = hold }) }

// Delay lets each byte be under way for so long, in each direction.
func (l *Link) Delay(d time.Duration) { l.set(func() { l.delay = d }) }

// Rate bounds what passes in each direction, in bytes a second for all connections together; 0 is
// as fast as it goes.
func (l *Link) Rate(octets int64) { l.set(func() { l.rate = octets }) }

// Flap ends each connection after so many bytes upwards, somewhere in a message; 0 ends none.
func (l *Link) Flap(octets int64) { l.set(func() { l.life = octets }) }

// Carried returns how many bytes passed in a direction.
func (l *Link) Carried(d direction) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.carried[d]
}

func (l *Link) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

// carry serves one connection.
func (l *Link) carry(ctx context.Context, near, far net.Conn) {
	w := &wire{link: l, near: near, far: far, done: make(chan struct{}), stranded: make(chan struct{})}
	defer context.AfterFunc(ctx, w.end)()
	defer w.end()
	l.mu.Lock()
	l.conns[w] = true
	l.mu.Unlock()
	var pumps sync.WaitGroup
	pumps.Go(func() { w.pump(Up, near, far) })
	pumps.Go(func() { w.pump(Down, far, near) })
	pumps.Wait()
	l.mu.Lock()
	delete(l.conns, w)
	l.mu.Unlock()
}

// wire is one connection through a link.
type wire struct {
	link      *Link
	near, far net.Conn
	once      sync.Once
	done      chan struct{}
	stranding sync.Once
	stranded  chan struct{} // closed when the near end is gone without a word
}

func (w *wire) strand() {
	w.stranding.Do(func() {
		close(w.stranded)
		_ = w.near.Close()
	})
}

func (w *wire) isStranded() bool {
	select {
	case <-w.stranded:
		return true
	default:
		return false
	}
}

func (w *wire) end() {
	w.once.Do(func() {
		close(w.done)
		_ = w.near.Close()
		_ = w.far.Close()
	})
}

// What a direction may hold: then the sender's own buffers fill, as with a real network.
const (
	piece  = 4 << 10
	pieces = 32
)

// parcel are bytes on their way; without any it is the end of the connection.
type parcel struct {
	data []byte
	came time.Time
}

// pump carries one direction until the connection ends.
func (w *wire) pump(d direction, from, to net.Conn) {
	defer w.end()
	queue := make(chan parcel, pieces)
	var writing sync.WaitGroup
	writing.Go(func() {
		defer w.end()
		w.deliver(d, to, queue)
	})
	defer writing.Wait()
	defer close(queue)
	for {
		data := make([]byte, piece)
		n, err := from.Read(data)
		if n > 0 {
			select {
			case queue <- parcel{data[:n], time.Now()}:
			case <-w.done:
				return
			}
		}
		if err != nil && d == Up && w.isStranded() {
			<-w.done // until the other end has enough of it
		}
		if err != nil {
			select {
			case queue <- parcel{nil, time.Now()}:
			case <-w.done:
			}
			return
		}
	}
}

// deliver passes bytes on. What cannot be delivered, since who should get it is gone, is lost; that it
// is gone comes the other way.
func (w *wire) deliver(d direction, to net.Conn, queue <-chan parcel) {
	var passed int64
	for p := range queue {
		last := false
		if life := w.life(d); life > 0 && passed+int64(len(p.data)) >= life {
			p.data, last = p.data[:max(life-passed, 0)], true
		}
		if !w.await(d, p) {
			return
		}
		if _, err := to.Write(p.data); last || len(p.data) == 0 || (err != nil && !w.link.isHeld() && !w.isStranded()) {
			return
		}
		passed += int64(len(p.data))
	}
}

func (l *Link) isHeld() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held != [2]bool{}
}

func (w *wire) life(d direction) int64 {
	w.link.mu.Lock()
	defer w.link.mu.Unlock()
	if d == Up {
		return w.link.life
	}
	return 0
}

// await returns when a parcel may pass; false if the connection ended before.
func (w *wire) await(d direction, p parcel) bool {
	for {
		wait, changed := w.link.due(d, p)
		if wait == 0 {
			return true
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-w.done:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// due returns how long a parcel must wait; 0 lets it pass, and counts it.
func (l *Link) due(d direction, p parcel) (wait time.Duration, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.held[d] {
		return time.Hour, l.changed
	}
	if wait := l.delay - now.Sub(p.came); wait > 0 {
		return wait, l.changed
	}
	if l.rate > 0 {
		if wait := l.free[d].Sub(now); wait > 0 {
			return wait, l.changed
		}
		l.free[d] = now.Add(time.Duration(int64(len(p.data)) * int64(time.Second) / l.rate))
	}
	l.carried[d] += int64(len(p.data))
	return 0, nil
}
