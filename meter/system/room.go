package system

import (
	"fmt"
	"slices"
	"sync"

	"voltbus/fault"
	"voltbus/meter/store"
	"voltbus/point"
)

// room bounds the readings that wait here until their meter is registered. It is safe for concurrent use.
type room struct {
	store store.Keeper
	knows func(dst []bool, keys []store.ChannelKey) []bool
	meter func(id string) bool // whether it is registered
	most  uint64

	mu       sync.Mutex
	underway map[string][]strays // by origin, in order: those that the store does not have yet
	reported map[string]uint64   // events of meters that are not registered, by origin, since the start
}

// strays is how many readings of a block are of meters that are not registered.
type strays struct{ sequence, n uint64 }

// share is the part of the room that the nodes behind one child have.
const share = 4

const errUnregistered = "sends readings of meters that are not registered here: %d wait already, and there is room for %d of them " +
	"(metering.unregistered is %d, a quarter of it for one node); register the meters, or raise it: the readings wait in the node's log until then"

// fits returns why there is no room for a block of readings that came from a descendant. from tells the origins that come by
// that node.
func (r *room) fits(b *point.Block, from func(origin string) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if point.IsMeterEventOrigin(b.Origin) {
		return r.fitsEvents(b, from)
	}
	list := slices.DeleteFunc(r.underway[b.Origin], func(s strays) bool { return s.sequence >= b.Sequence }) // it was tried before
	r.underway[b.Origin] = list
	n := r.count(b)
	if n == 0 {
		return nil
	}
	of, all := r.store.Waiting(from)
	for origin, list := range r.underway {
		for _, s := range list {
			if all += s.n; from(origin) {
				of += s.n
			}
		}
	}
	switch {
	case of+n > r.most/share:
		return fault.E("metering.fits", fault.Refused, b.Origin, fmt.Errorf(errUnregistered, of, r.most/share, r.most))
	case all+n > r.most:
		return fault.E("metering.fits", fault.Refused, b.Origin, fmt.Errorf(errUnregistered, all, r.most, r.most))
	}
	r.underway[b.Origin] = append(list, strays{b.Sequence, n})
	return nil
}

const errUnregisteredEvents = "has sent %d events of meters that are not registered here since the start, and there is room for %d: register the meters, or raise metering.unregistered"

// fitsEvents is fits for events. They stay in the store, so that those since the start are counted.
func (r *room) fitsEvents(b *point.Block, from func(origin string) bool) error {
	n, of := uint64(0), uint64(0)
	for _, p := range b.Point {
		if id, is := store.MeterOf(b.Points[p]); is && !r.meter(id) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	for origin, k := range r.reported {
		if from(origin) {
			of += k
		}
	}
	if of+n > r.most/share {
		return fault.E("metering.fits", fault.Refused, b.Origin, fmt.Errorf(errUnregisteredEvents, of, r.most/share))
	}
	r.reported[b.Origin] += n
	return nil
}

// count returns how many readings of a block are of channels that are not registered.
func (r *room) count(b *point.Block) (n uint64) {
	keys := make([]store.ChannelKey, len(b.Points))
	for i, p := range b.Points {
		keys[i], _ = store.KeyOf(p)
	}
	known := r.knows(make([]bool, 0, len(keys)), keys)
	for _, p := range b.Point {
		if keys[p].Meter != "" && !known[p] {
			n++
		}
	}
	return n
}

// stored notes the blocks that the store has.
func (r *room) stored(list []*point.Block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range list {
		left := slices.DeleteFunc(r.underway[b.Origin], func(s strays) bool { return s.sequence <= b.Sequence })
		if r.underway[b.Origin] = left; len(left) == 0 {
			delete(r.underway, b.Origin)
		}
	}
}
