package client

import (
	"context"
	"time"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/internal/deadline"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// Watch is what to subscribe to.
type Watch struct {
	Object    encoding.ObjectID
	Property  *constructed.PropertyReference // nil: what the object's type reports (SubscribeCOV)
	Increment encoding.Value                 // real, of a property; null: the object's own
	Confirmed bool                           // the device repeats notifications that are lost
	Lifetime  time.Duration                  // of a subscription, renewed twice in it; 5 minutes
	// Notify takes notifications. It must not block.
	Notify func(service.Notification)
	// Renewed is told how each renewal ended; nil ignores it. It must not block. After an error the
	// renewal is tried again.
	Renewed func(error)
}

// Subscription is a subscription that a client renews.
type Subscription struct {
	Watch

	device  Remote
	process uint32
	timer   deadline.Timer[*Subscription]
	closed  bool
}

// Subscribe subscribes and keeps renewing until [Subscription.Cancel]. The error is that of the
// first request; then there is no subscription.
func (d Remote) Subscribe(ctx context.Context, w Watch) (*Subscription, error) {
	if w.Lifetime <= 0 {
		w.Lifetime = 5 * time.Minute
	}
	s := &Subscription{Watch: w, device: d}
	s.timer.Owner = s
	d.client.mu.Lock()
	s.identify()
	d.client.mu.Unlock()
	which, payload := s.request(false)
	_, err := d.Do(ctx, which, payload)
	d.client.mu.Lock()
	defer d.client.mu.Unlock()
	if err != nil {
		delete(d.client.subs, s.process)
		return nil, err
	}
	s.plan(time.Now(), nil)
	return s, nil
}

// Watch is [Remote.Subscribe] without waiting: Renewed is told how the first request ended, too, and after
// an error it is tried again. There is an error only if the subscription cannot be begun.
func (d Remote) Watch(w Watch) (*Subscription, error) {
	if w.Lifetime <= 0 {
		w.Lifetime = 5 * time.Minute
	}
	s := &Subscription{Watch: w, device: d}
	s.timer.Owner = s
	c := d.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	s.identify()
	now := time.Now()
	c.renewals.Set(&s.timer, now)
	c.arm(now)
	return s, nil
}

// Renew subscribes again soon, such as when notifications are missing.
func (s *Subscription) Renew() {
	c := s.device.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.closed || c.closed {
		return
	}
	now := time.Now()
	c.renewals.Set(&s.timer, now)
	c.arm(now)
}

// Stop ends the subscription and tells the device, without waiting for its answer.
func (s *Subscription) Stop() {
	c := s.device.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.closed || c.closed {
		return
	}
	s.drop()
	which, payload := s.request(true)
	now := time.Now()
	_ = c.enqueueLocked(now, &call{request: transaction.Request[ip.Address]{
		Peer: s.device.Address, Limits: s.device.limits(), Service: which, Payload: payload, Done: func([]byte, error) {},
	}}) // the device forgets it at the end of its lifetime
	c.arm(now)
}

// identify gives a subscription an identifier that no other one has: the device may notify before it
// acknowledges. The lock is held.
func (s *Subscription) identify() {
	c := s.device.client
	for used := true; used; _, used = c.subs[c.process] {
		c.process++
	}
	s.process = c.process
	c.subs[s.process] = s
}

// drop forgets a subscription. The lock is held.
func (s *Subscription) drop() {
	c := s.device.client
	s.closed = true
	delete(c.subs, s.process)
	c.renewals.Stop(&s.timer)
}

// Cancel cancels the subscription. Whatever the error, nothing is notified any more.
func (s *Subscription) Cancel(ctx context.Context) error {
	c := s.device.client
	c.mu.Lock()
	s.drop()
	c.mu.Unlock()
	which, payload := s.request(true)
	_, err := s.device.Do(ctx, which, payload)
	return err
}

func (s *Subscription) request(cancel bool) (service.Confirmed, []byte) {
	r := service.SubscribeRequest{
		Process: s.process, Object: s.Object, Cancel: cancel, Confirmed: s.Confirmed,
		Lifetime: uint32(max(s.Lifetime/time.Second, 1)), Property: s.Property, Increment: s.Increment,
	}
	if s.Property != nil {
		return service.SubscribeCOVProperty, r.Append(nil)
	}
	return service.SubscribeCOV, r.Append(nil)
}

// plan sets the time of the next renewal: twice in a lifetime, at places that lie evenly between those of all other subscriptions,
// whenever each was made, and whatever was lost for a while. After an error it is tried again sooner. The lock is held.
func (s *Subscription) plan(now time.Time, err error) {
	c := s.device.client
	if s.closed || c.closed {
		return
	}
	next := now.Add(time.Duration(float64(s.Lifetime) * (0.05 + 0.1*s.spread())))
	if err == nil {
		next = s.place(now.Add(s.Lifetime / 20))
	}
	c.renewals.Set(&s.timer, next)
	c.arm(now)
}

// place returns the first place of the subscription after a time.
func (s *Subscription) place(after time.Time) time.Time {
	period := max(s.Lifetime/2, time.Millisecond)
	first := s.device.client.began.Add(time.Duration(float64(period) * s.spread()))
	periods := after.Sub(first) / period
	if next := first.Add(periods * period); next.After(after) {
		return next
	}
	return first.Add((periods + 1) * period)
}

// spread returns a number from 0 to 1. Those of any run of identifiers lie evenly: multiples of the golden ratio do.
func (s *Subscription) spread() float64 {
	const golden = 0x9E3779B9 // of 2^32
	return float64(s.process*golden) / (1 << 32)
}

// renew subscribes again. The lock is held.
func (s *Subscription) renew(now time.Time) {
	which, payload := s.request(false)
	err := s.device.client.enqueueLocked(now, &call{request: transaction.Request[ip.Address]{
		Peer: s.device.Address, Limits: s.device.limits(), Service: which, Payload: payload,
		Done: func(_ []byte, err error) { s.renewed(err) },
	}})
	if err != nil {
		s.renewed(err)
	}
}

// renewed takes the end of a renewal. The lock is held.
func (s *Subscription) renewed(err error) {
	s.plan(time.Now(), err)
	if s.Renewed != nil && !s.closed {
		s.device.client.mu.Unlock()
		s.Renewed(err)
		s.device.client.mu.Lock()
	}
}

// notified takes a notification; false if nobody subscribed.
func (c *Client) notified(from ip.Address, n service.Notification) bool {
	c.mu.Lock()
	s := c.subs[n.Process]
	c.mu.Unlock()
	if s == nil || s.device.Address != from || s.Object != n.Object {
		return false
	}
	s.Notify(n)
	return true
}

// confirmedNotification answers a confirmed notification. The lock is held.
func (c *Client) confirmedNotification(i transaction.Indication[ip.Address]) transaction.Response {
	n, err := service.DecodeNotification(i.Payload)
	if err != nil {
		return transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectInvalidTag)}
	}
	c.mu.Unlock()
	known := c.notified(i.Peer, n)
	c.mu.Lock()
	if !known {
		e := service.Error{Class: enum.ClassServices, Code: enum.CodeUnknownSubscription}
		return transaction.Response{Type: apdu.Error, Payload: e.Append(nil)}
	}
	return transaction.Response{Type: apdu.SimpleAck}
}
