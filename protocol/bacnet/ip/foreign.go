package ip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"voltbus/protocol/bacnet/bvlc"
)

// ErrRefused says that the BBMD does not accept foreign devices, or no more of them.
var ErrRefused = errors.New("the BBMD refused the registration as a foreign device")

// register keeps the port registered until ctx ends.
func (p *Port) register(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-p.result:
		}
		p.mu.Lock()
		now := time.Now()
		datagram := p.registration.Tick(now, nil)
		wait := p.registration.Next().Sub(now)
		p.mu.Unlock()
		if len(datagram) > 0 {
			_ = p.writeRaw(datagram, p.config.BBMD) // it is tried again
		}
		timer.Reset(max(wait, time.Millisecond))
	}
}

func (p *Port) registrationResult(from netip.AddrPort, code bvlc.ResultCode) {
	if p.registration == nil || from != p.config.BBMD {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.registration.Receive(time.Now(), code)
	if code == bvlc.Success {
		select {
		case <-p.registered:
		default:
			close(p.registered)
		}
	}
	select {
	case p.result <- struct{}{}:
	default:
	}
}

// AwaitRegistration waits until the BBMD has accepted the port as a foreign device for the first
// time. Without a BBMD it returns at once. When ctx ends it returns ErrRefused if the BBMD
// refused, otherwise the error of ctx.
func (p *Port) AwaitRegistration(ctx context.Context) error {
	if p.registration == nil {
		return nil
	}
	select {
	case <-p.registered:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.registration.Refused() {
		return ErrRefused
	}
	return fmt.Errorf("registration with the BBMD %v: %w", p.config.BBMD, ctx.Err())
}

// Registered reports whether the BBMD passes on our broadcasts now. It is false without a BBMD.
func (p *Port) Registered() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.registration != nil && p.registration.Registered(time.Now())
}
