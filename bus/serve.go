package bus

import (
	"context"

	"voltbus/bus/dispatch"
	"voltbus/bus/trouble"
	"voltbus/fault"
)

// Serve answers the requests on subjects prefix + caller + method, such as "rpc.node.", until the
// bus is closed. Of one caller at most 64 run at a time, and 1024 are parked; the others wait, callers
// taking turns, and what is too much is refused with fault.Unavailable. handler runs in several goroutines at once;
// its context ends when the bus closes.
func (b *Bus) Serve(prefix string, handler func(context.Context, dispatch.Request)) error {
	d := dispatch.New(handler, b.foreignReply)
	if err := d.Subscribe(b.requester.requests, prefix+"*.*"); err != nil {
		return fault.E("bus.Serve", fault.Unavailable, prefix, trouble.Of(err))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dispatchers = append(b.dispatchers, d)
	return nil
}

// foreignReply reports a request whose answer would go elsewhere than to an inbox of the caller: with
// the node's rights, which are all. It is a violation like a publication on that subject.
func (b *Bus) foreignReply(caller, reply string) {
	b.connections.mu.Lock()
	holder := b.connections.holder(caller)
	b.connections.mu.Unlock()
	if holder != nil {
		b.guard.offer(trespass{id: holder.id, subject: reply, publish: true})
	}
}

func (b *Bus) closeDispatchers() {
	b.mu.Lock()
	all := b.dispatchers
	b.dispatchers = nil
	b.mu.Unlock()
	for _, d := range all {
		d.Close()
	}
}
