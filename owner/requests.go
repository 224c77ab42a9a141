package owner

import (
	"voltbus/bus"
	"voltbus/operation"
	"voltbus/operation/forward"
)

// Requests carry requests to the replica that owns what they need.
type Requests = forward.Forwarder

// Controller is control, as package control/term has it.
type Controller interface {
	// Where returns which replica controls the devices, "" for none, and whether it is this one.
	Where() (replica string, here bool)
}

// Forward has the requests that a replica cannot carry out itself go to the one that can; nil for a node alone.
func (l *Leases) Forward(b *bus.Bus, t *operation.Table, c Controller) *Requests {
	mesh := b.Mesh()
	if l == nil || mesh == nil {
		return nil
	}
	f := forward.New(forward.Config{Mesh: mesh, Carry: t.Carry, Owner: func(owner, name string) (string, bool) {
		if owner == operation.Control {
			return c.Where()
		}
		return l.Agent(name).Where()
	}})
	t.Owned(f)
	return f
}
