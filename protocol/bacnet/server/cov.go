package server

import (
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// subscriber identifies a subscription (clause 13.14.1.1).
type subscriber struct {
	peer    ip.Address
	process uint32
	object  encoding.ObjectID
}

// subscription is who is told of changes of an object.
type subscription struct {
	to        client.Device
	confirmed bool
	until     time.Time // zero: without an end
	told      []service.PropertyWrite
}

// subscribe makes, renews or cancels a subscription.
func (d *Device) subscribe(peer ip.Address, limits transaction.Limits, r service.SubscribeRequest) error {
	o, err := d.object(r.Object)
	if err != nil {
		return err
	}
	if _, ok := o.(Watched); !ok {
		return service.Error{Class: enum.ClassObject, Code: enum.CodeOptionalFunctionalityNotSupported}
	}
	key := subscriber{peer, r.Process, r.Object}
	if r.Cancel {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.subs, key)
		return nil
	}
	s := &subscription{confirmed: r.Confirmed, to: client.Device{Address: peer, MaxAPDU: limits.MaxAPDU}}
	if r.Lifetime > 0 {
		s.until = time.Now().Add(time.Duration(r.Lifetime) * time.Second)
	}
	d.mu.Lock()
	d.expire()
	if d.subs[key] == nil && len(d.subs) >= d.config.MaxSubscriptions {
		d.mu.Unlock()
		return service.Error{Class: enum.ClassResources, Code: enum.CodeCOVSubscriptionFailed}
	}
	d.subs[key] = s
	d.mu.Unlock()
	return nil
}

// greet tells a new subscriber the present state, after its request was acknowledged.
func (d *Device) greet(payload []byte) {
	r, err := service.DecodeSubscribeRequest(payload)
	if err != nil {
		return
	}
	if o, ok := d.find(service.ObjectQuery{Object: r.Object}).(Watched); ok {
		d.Changed(o)
	}
}

// Forget drops all subscriptions, as a device does that restarts.
func (d *Device) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.subs)
}

// expire drops subscriptions that ended. The lock is held.
func (d *Device) expire() {
	now := time.Now()
	for key, s := range d.subs {
		if !s.until.IsZero() && now.After(s.until) {
			delete(d.subs, key)
		}
	}
}

// Changed tells those who subscribed to an object when it differs from what they were told. A
// [Point] of the device calls it by itself.
func (d *Device) Changed(o Watched) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client == nil || len(d.subs) == 0 {
		return
	}
	var state []service.PropertyWrite
	now := time.Now()
	for key, s := range d.subs {
		if key.object != o.ID() || !s.until.IsZero() && now.After(s.until) {
			continue
		}
		if state == nil {
			state = o.Reported()
		}
		if s.told == nil || o.Differs(s.told, state) {
			s.told = state
			d.notify(now, key, s)
		}
	}
}

func (d *Device) notify(now time.Time, key subscriber, s *subscription) {
	n := service.Notification{Process: key.process, Device: d.ID(), Object: key.object, Values: s.told}
	if !s.until.IsZero() {
		n.Left = uint32(max(s.until.Sub(now)/time.Second, 1))
	}
	if !s.confirmed {
		_ = d.client.At(s.to).Tell(service.UnconfirmedCOVNotification, n.Append(nil)) // the next one tells more
		return
	}
	_ = d.client.At(s.to).Start(service.ConfirmedCOVNotification, n.Append(nil), func([]byte, error) {})
}
