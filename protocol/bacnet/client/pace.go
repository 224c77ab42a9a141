package client

import (
	"context"
	"time"

	"voltbus/protocol/bacnet/internal/deadline"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// peer is what is known of a station that was asked something.
type peer struct {
	pace     Pace
	queue    []*call
	inFlight int
	next     time.Time // before it no request starts
	timer    deadline.Timer[*peer]
	waiting  bool // in ready

	heard  bool // it answered a request
	many   bool // it answered a ReadPropertyMultiple
	single bool // it does not do ReadPropertyMultiple
	batch  int  // properties that it answers in one request; 0: not known
}

// call is a request that waits or is under way.
type call struct {
	request   transaction.Request[ip.Address]
	cancelled bool
}

// fail ends what waits.
func (p *peer) fail(err error) {
	for _, call := range p.queue {
		call.request.Done(nil, err)
	}
	p.queue = nil
}

// peer returns the record of a station. The lock is held.
func (c *Client) peer(a ip.Address) *peer {
	p := c.peers[a]
	if p == nil {
		p = &peer{pace: c.config.Pace}
		p.timer.Owner = p
		c.peers[a] = p
	}
	return p
}

// SetPace bounds what is asked of the device at an address from now on.
func (c *Client) SetPace(a ip.Address, pace Pace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer(a).pace = pace
}

// Forget drops what is known of a station: its pace and how it answers. Requests to it go on.
func (c *Client) Forget(a ip.Address) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.peers[a]; p != nil && p.inFlight == 0 && len(p.queue) == 0 {
		c.paced.Stop(&p.timer)
		delete(c.peers, a)
	}
}

// Do carries out a confirmed service and returns the parameters of the answer, nil for a simple
// acknowledgement. Errors are those of package transaction, service.Error, ErrQueueFull,
// ErrClosed and that of ctx. A request that is under way when ctx ends still goes to its end.
func (d Remote) Do(ctx context.Context, s service.Confirmed, payload []byte) ([]byte, error) {
	type outcome struct {
		answer []byte
		err    error
	}
	done := make(chan outcome, 1)
	call := &call{request: transaction.Request[ip.Address]{
		Peer: d.Address, Limits: d.limits(), Service: s, Payload: payload,
		Done: func(answer []byte, err error) { done <- outcome{answer, err} },
	}}
	if err := d.client.enqueue(call); err != nil {
		return nil, err
	}
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
		d.client.mu.Lock()
		call.cancelled = true
		d.client.mu.Unlock()
		return nil, ctx.Err()
	}
}

// Start is [Remote.Do] without waiting. Done is called once, unless there is an error at once; it
// must not block or use the client.
func (d Remote) Start(s service.Confirmed, payload []byte, done func(answer []byte, err error)) error {
	return d.client.enqueue(&call{request: transaction.Request[ip.Address]{
		Peer: d.Address, Limits: d.limits(), Service: s, Payload: payload, Done: done,
	}})
}

func (c *Client) enqueue(call *call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	err := c.enqueueLocked(now, call)
	c.arm(now)
	return err
}

func (c *Client) enqueueLocked(now time.Time, call *call) error {
	if c.closed {
		return ErrClosed
	}
	p := c.peer(call.request.Peer)
	if len(p.queue) >= c.config.MaxQueue {
		return ErrQueueFull
	}
	p.queue = append(p.queue, call)
	c.pump(now, p)
	return nil
}

// pump starts the requests to a station that may start now.
func (c *Client) pump(now time.Time, p *peer) {
	for len(p.queue) > 0 && p.inFlight < max(p.pace.InFlight, 1) && !c.closed {
		if p.queue[0].cancelled {
			p.queue = p.queue[1:]
			continue
		}
		if now.Before(p.next) {
			c.paced.Set(&p.timer, p.next)
			return
		}
		if c.inFlight >= c.config.MaxInFlight {
			if !p.waiting {
				p.waiting = true
				c.ready = append(c.ready, p)
			}
			return
		}
		call := p.queue[0]
		p.queue[0] = nil
		p.queue = p.queue[1:]
		c.start(now, p, call)
	}
}

func (c *Client) start(now time.Time, p *peer, call *call) {
	p.next = now.Add(p.pace.Interval)
	p.inFlight++
	c.inFlight++
	done := call.request.Done
	call.request.Done = func(answer []byte, err error) {
		c.ended(p)
		done(answer, err)
	}
	if err := c.requests.Start(now, call.request); err != nil {
		call.request.Done(nil, err)
	}
}

// ended makes place for others.
func (c *Client) ended(p *peer) {
	p.inFlight--
	c.inFlight--
	now := time.Now()
	c.pump(now, p)
	for len(c.ready) > 0 && c.inFlight < c.config.MaxInFlight {
		next := c.ready[0]
		c.ready[0] = nil
		c.ready = c.ready[1:]
		next.waiting = false
		c.pump(now, next)
	}
}
