package kernel

import (
	"context"
	"fmt"
	"sync"
	"time"

	"voltbus/fault"
)

// Pacer sets how fast the clock of a world goes compared with that of the machine. It begins as fast as possible. It is
// safe for concurrent use.
type Pacer struct {
	mu      sync.Mutex
	ratio   float64 // 0: as fast as possible
	paused  bool
	steps   int // moments that may pass while it is paused
	real    time.Time
	virtual time.Duration
	anchor  bool          // real and virtual belong together
	now, at time.Duration // where the clock is, and the moment that it waits for or has gone to
	changed chan struct{} // closed by a change
}

func newPacer() Pacer { return Pacer{changed: make(chan struct{})} }

// Set chooses the speed: 1 for real time, 60 for a minute in each second, 0 for as fast as possible.
func (p *Pacer) Set(ratio float64) error {
	if !(ratio >= 0 && ratio <= 1e9) {
		return fault.E("kernel.Pacer", fault.Invalid, "pace", fmt.Errorf("%g: write a number from 0, which is as fast as possible, to 1e9", ratio))
	}
	p.change(func() { p.ratio, p.anchor = ratio, false })
	return nil
}

// Pause stops the clock before the next moment.
func (p *Pacer) Pause() { p.change(func() { p.paused, p.steps = true, 0 }) }

// Resume lets the clock go on.
func (p *Pacer) Resume() { p.change(func() { p.paused, p.steps, p.anchor = false, 0, false }) }

// Step lets the clock of a world that is paused go on to the next moment at which something is due.
func (p *Pacer) Step() {
	p.change(func() {
		if p.paused {
			p.steps++
		}
	})
}

// Where returns where the clock is, and the moment at which something is due next.
func (p *Pacer) Where() (now, next time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now, p.at
}

func (p *Pacer) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.changed)
	p.changed = make(chan struct{})
}

// wait returns when the clock may go from now to a moment.
func (p *Pacer) wait(ctx context.Context, now, at time.Duration) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		left, changed := p.left(now, at)
		if left == 0 {
			return nil
		}
		if err := sleep(ctx, left, changed); err != nil {
			return err
		}
	}
}

// sleep waits for a while, a change, or without end if the while is negative.
func sleep(ctx context.Context, d time.Duration, changed <-chan struct{}) error {
	var over <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-over:
	case <-changed:
	}
	return nil
}

// left returns how long to wait: 0 not at all, below 0 until something changes.
func (p *Pacer) left(now, at time.Duration) (time.Duration, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.at = now, at
	switch {
	case at == now:
		return 0, nil
	case p.paused && p.steps == 0:
		return -1, p.changed
	case p.paused:
		p.steps--
		return 0, nil
	case p.ratio == 0:
		return 0, nil
	}
	if !p.anchor {
		p.real, p.virtual, p.anchor = time.Now(), now, true
	}
	due := p.real.Add(time.Duration(float64(at-p.virtual) / p.ratio))
	return max(0, time.Until(due)), p.changed
}
