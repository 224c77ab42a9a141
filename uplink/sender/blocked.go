package sender

import (
	"time"

	"voltbus/uplink"
)

// block suspends an origin that the parent refused. The others continue.
func (p *pass) block(a *uplink.Answer) {
	if _, waits := p.blocked[a.Origin]; waits {
		return
	}
	first := flying{log: p.read, created: time.Now()}
	wait := func(log uint64, created time.Time) {
		if log <= first.log {
			first.log, first.created = log, created
		}
	}
	kept := p.flight[:0]
	for _, f := range p.flight {
		if f.origin == a.Origin {
			wait(f.log, f.created)
			p.octets -= f.octets
			continue
		}
		kept = append(kept, f)
	}
	p.flight = kept
	p.unqueue(func(f *flying) bool {
		if f.origin == a.Origin {
			wait(f.log, f.created)
		}
		return f.origin == a.Origin
	})
	if open := p.open[a.Origin]; open != nil {
		wait(open.log, open.block.Created)
		delete(p.open, a.Origin)
		p.spare = append(p.spare, open)
	}
	if len(p.flight) == 0 {
		p.patience.Stop()
	}
	p.blocked[a.Origin] = first
	p.armRetry()
	p.monitor.trouble(a.Origin, a.Err())
}

// armRetry schedules a retry of refused origins, which restarts the pass. It waits until this pass has got as far as the
// previous one, and as long again: otherwise a long log would be read over and over, and nothing after it sent.
func (p *pass) armRetry() {
	if len(p.blocked) > 0 && !p.again && p.read >= p.reached {
		p.again = true
		p.retry.Reset(max(blockedPause, time.Since(p.began)))
	}
}
