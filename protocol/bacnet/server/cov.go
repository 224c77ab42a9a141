package server

import (
	"slices"
	"sync"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/internal/deadline"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// subscriber identifies a subscription (clauses 13.14.1.1 and 13.15.1.1).
type subscriber struct {
	peer     ip.Address
	process  uint32
	object   encoding.ObjectID
	single   bool // SubscribeCOVProperty
	property constructed.PropertyReference
}

func subscriberOf(peer ip.Address, r service.SubscribeRequest) subscriber {
	s := subscriber{peer: peer, process: r.Process, object: r.Object}
	if r.Property != nil {
		s.single, s.property = true, *r.Property
	}
	return s
}

// subscription is who is told of changes of an object.
type subscription struct {
	subscriber

	to        client.Device
	confirmed bool
	increment encoding.Value // of a single property; null: the object's own
	until     time.Time      // zero: without an end
	ends      deadline.Timer[*subscription]
	told      []service.PropertyWrite // nil: nothing yet
	busy      bool                    // a confirmed notification is under way
	behind    bool                    // the object changed meanwhile
}

// subscriptions are the subscriptions of a device.
type subscriptions struct {
	most    int
	device  encoding.ObjectID
	settled sync.WaitGroup

	mu       sync.Mutex
	client   *client.Client // nil before the device is open and after it is closed
	byKey    map[subscriber]*subscription
	byObject map[encoding.ObjectID][]*subscription
	ends     deadline.Queue[*subscription]
}

func newSubscriptions(device encoding.ObjectID, most int) *subscriptions {
	return &subscriptions{
		most: most, device: device, byKey: map[subscriber]*subscription{}, byObject: map[encoding.ObjectID][]*subscription{},
	}
}

// attach gives the client that notifies; nil ends notifications.
func (s *subscriptions) attach(c *client.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = c
}

// request makes, renews or cancels a subscription.
func (s *subscriptions) request(peer ip.Address, limits transaction.Limits, r service.SubscribeRequest) error {
	now := time.Now()
	key := subscriberOf(peer, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	for due := s.ends.Due(now); due != nil; due = s.ends.Due(now) {
		s.drop(due.Owner)
	}
	old := s.byKey[key]
	switch {
	case r.Cancel:
		if old != nil {
			s.drop(old)
		}
		return nil
	case old == nil && len(s.byKey) >= s.most:
		return service.Error{Class: enum.ClassResources, Code: enum.CodeCOVSubscriptionFailed}
	case old == nil:
		old = &subscription{subscriber: key}
		old.ends.Owner = old
		s.byKey[key] = old
		s.byObject[r.Object] = append(s.byObject[r.Object], old)
	}
	old.confirmed, old.to, old.told, old.until = r.Confirmed, client.Device{Address: peer, MaxAPDU: limits.MaxAPDU}, nil, time.Time{}
	old.increment = r.Increment
	s.ends.Stop(&old.ends)
	if r.Lifetime > 0 {
		old.until = now.Add(time.Duration(r.Lifetime) * time.Second)
		s.ends.Set(&old.ends, old.until)
	}
	return nil
}

// drop forgets a subscription. The lock is held.
func (s *subscriptions) drop(gone *subscription) {
	s.ends.Stop(&gone.ends)
	delete(s.byKey, gone.subscriber)
	left := slices.DeleteFunc(s.byObject[gone.object], func(other *subscription) bool { return other == gone })
	if s.byObject[gone.object] = left; len(left) == 0 {
		delete(s.byObject, gone.object)
	}
}

// forget drops all.
func (s *subscriptions) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, gone := range s.byKey {
		s.drop(gone)
	}
}

func (s *subscriptions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byKey)
}

// changed tells those who subscribed to an object when it differs from what they were told.
func (s *subscriptions) changed(o Watched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.byObject[o.ID()]
	if s.client == nil || len(list) == 0 {
		return
	}
	now := time.Now()
	var whole []service.PropertyWrite // the same for all who subscribed to the object
	for _, one := range list {
		if whole == nil && !one.single {
			whole = o.Reported()
		}
		s.consider(now, one, o, whole)
	}
}

// greet tells a new subscriber the present state, after its request was acknowledged.
func (s *subscriptions) greet(key subscriber, o Watched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.byKey[key]; one != nil && s.client != nil {
		s.consider(time.Now(), one, o, o.Reported())
	}
}

// state returns what the subscriber of a property is told, beside the status flags (clause 13.15); nil if it cannot be read.
func (s *subscription) state(o Watched) []service.PropertyWrite {
	write := func(p constructed.PropertyReference) (service.PropertyWrite, bool) {
		data, err := appendProperty(nil, o, p.Property, p.Index)
		return service.PropertyWrite{Property: p.Property, Index: p.Index, Value: data}, err == nil
	}
	value, ok := write(s.property)
	if !ok {
		return nil
	}
	flags, has := write(constructed.PropertyReference{Property: enum.PropertyStatusFlags})
	if !has || s.property.Property == enum.PropertyStatusFlags {
		return []service.PropertyWrite{value}
	}
	return []service.PropertyWrite{value, flags}
}

// differs reports whether the subscriber must be told of a state.
func (s *subscription) differs(o Watched, now []service.PropertyWrite) bool {
	increment, given := s.increment.Float()
	switch {
	case s.told == nil:
		return true
	case !s.single, s.property.Property == enum.PropertyPresentValue && !given:
		return o.Differs(s.told, now)
	case len(now) != len(s.told) || len(now) > 1 && string(now[1].Value) != string(s.told[1].Value):
		return true
	case !given:
		return string(now[0].Value) != string(s.told[0].Value)
	}
	return moved(s.told[0].Value, now[0].Value, increment)
}

// consider notifies a subscriber who must be told; whole is what those are told who subscribed to the object. The lock is held.
func (s *subscriptions) consider(now time.Time, one *subscription, o Watched, whole []service.PropertyWrite) {
	state := whole
	if one.single {
		state = one.state(o)
	}
	switch {
	case !one.until.IsZero() && now.After(one.until), len(state) == 0, !one.differs(o, state):
		return
	case one.busy: // a slow subscriber gets the newest state, not every one
		one.behind = true
		return
	}
	one.told = state
	n := service.Notification{Process: one.process, Device: s.device, Object: one.object, Values: state}
	if !one.until.IsZero() {
		n.Left = uint32(max(one.until.Sub(now)/time.Second, 1))
	}
	if !one.confirmed {
		_ = s.client.At(one.to).Tell(service.UnconfirmedCOVNotification, n.Append(nil)) // the next one tells more
		return
	}
	one.busy = s.client.At(one.to).Start(service.ConfirmedCOVNotification, n.Append(nil), func(_ []byte, err error) {
		s.settled.Go(func() { s.answered(one, o, err) })
	}) == nil
}

// answered takes the end of a confirmed notification.
func (s *subscriptions) answered(one *subscription, o Watched, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	behind := one.behind
	one.busy, one.behind = false, false
	if err != nil {
		one.told = nil // it is told with the next change
	}
	if behind && s.client != nil && s.byKey[one.subscriber] == one {
		s.consider(time.Now(), one, o, o.Reported())
	}
}

// active returns the subscriptions as the property active-cov-subscriptions has them.
func (s *subscriptions) active() encoding.Any {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	list := make([]constructed.COVSubscription, 0, len(s.byKey))
	for key, one := range s.byKey {
		if !one.until.IsZero() && now.After(one.until) {
			continue
		}
		entry := constructed.COVSubscription{
			Recipient: constructed.Recipient{ByAddress: true, Address: stationOf(key.peer)}, Process: key.process, Confirmed: one.confirmed,
			Property: constructed.ObjectPropertyReference{Object: key.object, Property: enum.PropertyPresentValue},
		}
		if key.single {
			entry.Property.Property, entry.Property.Index, entry.Increment = key.property.Property, key.property.Index, one.increment
		}
		if !one.until.IsZero() {
			entry.Left = uint32(max(one.until.Sub(now)/time.Second, 1))
		}
		list = append(list, entry)
	}
	return constructed.Encode(list...)
}

// stationOf returns an address as it stands in properties: of BACnet/IP four bytes and the port (clause J.1.2).
func stationOf(a ip.Address) constructed.Address {
	if !a.Remote.IsLocal() {
		return constructed.Address{Net: a.Remote.Net, MAC: a.Remote.MAC}
	}
	mac := append(a.Link.Addr().AsSlice(), byte(a.Link.Port()>>8), byte(a.Link.Port()))
	return constructed.Address{MAC: string(mac)}
}
