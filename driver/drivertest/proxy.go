package drivertest

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"voltbus/internal/relay"
)

// Proxy is a TCP line between a driver and its peer that can be made to fail. Its methods are
// safe for concurrent use; the faults stay until Heal.
type Proxy struct {
	relay *relay.Relay

	mu      sync.Mutex
	changed chan struct{} // closed when the faults change
	faults  faults
}

// faults are what the line does to answers.
type faults struct {
	hang    bool
	delay   time.Duration
	cut     int // bytes of the next answer to pass before both sides are closed; -1 for no cut
	half    bool
	corrupt func(answer []byte) []byte
}

// NewProxy starts a proxy in front of the peer at the address target. It is closed, with its connections,
// when the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := &Proxy{changed: make(chan struct{}), faults: faults{cut: -1}}
	var err error
	if p.relay, err = relay.Open(target, p.carry); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Addr is the address for the driver.
func (p *Proxy) Addr() string { return p.relay.Addr() }

// Accepted returns the number of connections so far.
func (p *Proxy) Accepted() int { return p.relay.Made() }

// Hang holds back all answers. The connections stay open.
func (p *Proxy) Hang() { p.set(func(f *faults) { f.hang = true }) }

// Delay holds each answer back for d.
func (p *Proxy) Delay(d time.Duration) { p.set(func(f *faults) { f.delay = d }) }

// CutAfter passes n bytes of the next answer and then closes the connection.
func (p *Proxy) CutAfter(n int) { p.set(func(f *faults) { f.cut = n }) }

// HalfClose closes the peer's side of the connection at the next answer: the driver reads the end of the
// stream, but can still write.
func (p *Proxy) HalfClose() { p.set(func(f *faults) { f.half = true }) }

// Corrupt passes each answer through change, which is called by one goroutine at a time.
func (p *Proxy) Corrupt(change func(answer []byte) []byte) {
	p.set(func(f *faults) { f.corrupt = change })
}

// Heal ends all faults from now on. Answers that Hang held back are discarded.
func (p *Proxy) Heal() { p.set(func(f *faults) { *f = faults{cut: -1} }) }

// Cut closes the present connections.
func (p *Proxy) Cut() { p.relay.Cut() }

// Close ends the proxy and waits for its goroutines. It may be called twice.
func (p *Proxy) Close() { _ = p.relay.Close() } // the listener is closed in any case

func (p *Proxy) set(change func(*faults)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.faults)
	close(p.changed)
	p.changed = make(chan struct{})
}

// carry joins one connection to the peer.
func (p *Proxy) carry(ctx context.Context, near, far net.Conn) {
	var pumps sync.WaitGroup
	pumps.Go(func() { pump(near, far, func(b []byte) bool { _, err := far.Write(b); return err == nil }) })
	pumps.Go(func() { pump(far, near, func(b []byte) bool { return p.answer(ctx, near, b) }) })
	pumps.Wait()
}

// pump reads from one side until pass returns false, and then closes both.
func pump(from, to net.Conn, pass func([]byte) bool) {
	defer func() {
		_ = from.Close()
		_ = to.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !pass(buffer[:n]) {
			return
		}
		if err != nil {
			return
		}
	}
}

// answer passes bytes of the peer to the driver, with the present faults.
func (p *Proxy) answer(ctx context.Context, near net.Conn, b []byte) bool {
	p.mu.Lock()
	f, changed := p.faults, p.changed
	if f.corrupt != nil && !f.hang {
		b = f.corrupt(slices.Clone(b))
	}
	p.mu.Unlock()
	switch {
	case f.hang:
		return true // discarded
	case f.delay > 0:
		timer := time.NewTimer(f.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-changed: // healed: late is late enough
		case <-ctx.Done():
		}
	case f.cut >= 0:
		_, _ = near.Write(b[:min(f.cut, len(b))])
		return false
	case f.half:
		if tcp, ok := near.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		return true
	}
	_, err := near.Write(b)
	return err == nil
}
