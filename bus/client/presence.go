package client

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity/registry"
)

// whoami returns the machine and the process.
func whoami() (host string, pid int) {
	host, err := os.Hostname()
	if err != nil {
		host = "" // it is for people only
	}
	return host, os.Getpid()
}

// presence says hello on each connection, and keeps what the agent may do.
type presence struct {
	link     *link
	calls    *calls
	greeted  func() // after hello on a new connection
	standing atomic.Pointer[registry.Permissions]
	fresh    chan struct{} // a new connection, holds one
	renew    chan struct{} // the standing changed, holds one
}

func (p *presence) init(l *link, c *calls, greeted func()) {
	p.link, p.calls, p.greeted = l, c, greeted
	p.fresh, p.renew = make(chan struct{}, 1), make(chan struct{}, 1)
	p.standing.Store(&registry.Permissions{})
}

// attend says hello on every new connection, and asks for the standing when it changed, until ctx
// ends.
func (p *presence) attend(ctx context.Context) {
	for {
		var work func(context.Context) error
		select {
		case <-ctx.Done():
			return
		case <-p.fresh:
			work = p.greet
		case <-p.renew:
			work = p.askStanding
		}
		if !p.persist(ctx, work) {
			return
		}
		if ctx.Err() == nil && p.link.conn.IsConnected() {
			p.link.opts.Report(nil)
		}
	}
}

// persist repeats work until it succeeds; false if ctx ended before. What goes wrong is reported
// when it changes.
func (p *presence) persist(ctx context.Context, work func(context.Context) error) bool {
	last := fault.Unreachable // of which the disconnection told
	for attempt := 0; ; attempt++ {
		step, cancel := context.WithTimeout(ctx, dialTimeout)
		err := work(step)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		if kind := fault.KindOf(err); kind != last {
			last = kind
			p.link.opts.Report(err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-p.fresh: // another connection: hello again, at once
			work = p.greet
		case <-time.After(pause(attempt)):
		}
	}
}

// greet says hello on a connection that is there again.
func (p *presence) greet(ctx context.Context) error {
	if err := p.hello(ctx); err != nil {
		return err
	}
	p.greeted()
	return nil
}

func (p *presence) askStanding(ctx context.Context) error {
	var s registry.Permissions
	if err := p.calls.node(ctx, "standing", nil, &s); err != nil {
		return err
	}
	p.standing.Store(&s)
	return nil
}

// hello says who connected, and keeps the standing.
func (p *presence) hello(ctx context.Context) error {
	var h answer.Hello
	host, pid := whoami()
	if err := p.calls.node(ctx, "hello", map[string]any{"sdk": sdkName, "pid": pid, "host": host, "version": p.link.opts.Version}, &h); err != nil {
		return err
	}
	p.standing.Store(&h.Standing)
	return nil
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
