package owner

import (
	"context"

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

// Hold returns a context that ends with the right of this replica; nil while it does not have it.
func (r *Right) Hold() context.Context {
	if h := r.leases.Hold(r.item); h != nil {
		return h
	}
	return nil
}

// Owner returns the name of the replica that has the right, as far as is known; "" for none.
func (r *Right) Owner() string { return r.leases.Owner(r.item) }

// Changed returns a channel that is closed when Hold or Owner may have changed.
func (r *Right) Changed() <-chan struct{} { return r.leases.Changed() }
