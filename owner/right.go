package owner

import (
	"context"
	"time"

	"voltbus/bus/lease"
)

// Right is the right to do something that one replica does at a time. It is safe for concurrent use.
type Right struct {
	leases *Leases
	item   string
}

// Control returns the right to control the devices that are commanded; they are at the same replica. busy reports whether something of it
// is still in progress here: another replica gets it only afterwards.
func (l *Leases) Control(busy func() bool) *Right {
	l.want(Control, []lease.Item{{Group: Control}}, func(string) bool { return busy() })
	return &Right{leases: l, item: Control}
}

// Agents replaces the agents that this replica can run. busy reports whether one still has a process here.
func (l *Leases) Agents(names []string, busy func(name string) bool) {
	items := make([]lease.Item, len(names))
	for i, name := range names {
		items[i].Name = name
	}
	l.want(agentItem, items, busy)
}

// Agent returns the right to run an agent.
func (l *Leases) Agent(name string) *Right { return &Right{leases: l, item: agentItem + name} }

// Hold returns a context that ends with the right of this replica; nil while it does not have it.
func (r *Right) Hold() context.Context {
	if h := r.leases.Hold(r.item); h != nil {
		return h
	}
	return nil
}

// Left returns how long this replica has the right at least, if nothing prolongs it; 0 if it does not have it.
func (r *Right) Left() time.Duration {
	if h := r.leases.Hold(r.item); h != nil {
		return h.Left()
	}
	return 0
}

// Owner returns the name of the replica that has the right, as far as is known; "" for none.
func (r *Right) Owner() string { return r.leases.Owner(r.item) }

// Changed returns a channel that is closed when Hold or Owner may have changed.
func (r *Right) Changed() <-chan struct{} { return r.leases.Changed() }

// Where returns the replica that has the right, and whether it is this one, or none.
func (r *Right) Where() (replica string, here bool) {
	hold, owner := r.Hold(), r.Owner()
	return owner, owner == "" || hold != nil && hold.Err() == nil
}
