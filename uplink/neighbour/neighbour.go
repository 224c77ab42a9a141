// Package neighbour knows the neighbours of this node, its parent and its children: their identity, connection and permissions, and how
// requests reach them.
package neighbour

import (
	"context"
	"errors"
	"time"

	"voltbus/bus"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/uplink/enrol"
	"voltbus/uplink/lineage"
	"voltbus/uplink/receiver"
	"voltbus/uplink/replica"
	"voltbus/uplink/sender"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// Bus reaches children. Package bus implements it.
type Bus interface {
	// Present returns the clients connected under exclusive names, and since when.
	Present() map[string]time.Time
	// CallHeld returns the reply of a connected client.
	CallHeld(ctx context.Context, name, method string, body []byte) ([]byte, error)
}

// Options configure Neighbours. All are required.
type Options struct {
	Children *registry.Children
	Parent   *enrol.Parent
	Bus      Bus
	// Link returns the state of the connection to the parent, and since when.
	Link func() (sender.State, time.Time)
	// Allowed returns what ancestors may do here.
	Allowed func() (identity.Grants, error)
	// Version returns the version of a child's program; "" if unknown.
	Version func(child string) string
}

// Neighbours are the nodes next to this one. They are safe for concurrent use.
type Neighbours struct{ opts Options }

// New returns the neighbours of a node.
func New(o Options) *Neighbours { return &Neighbours{opts: o} }

// Children lists the children that may connect, and whether they are connected.
func (n *Neighbours) Children() []replica.Child {
	present := n.opts.Bus.Present()
	var list []replica.Child
	for _, c := range n.opts.Children.List() {
		if c.State == registry.ChildApproved {
			_, online := present[c.Caller()]
			list = append(list, replica.Child{Name: c.Name, Prefix: c.Prefix, Online: online})
		}
	}
	return list
}

// Child returns what an approved child may do; false for any other.
func (n *Neighbours) Child(name string) (receiver.Child, bool) {
	c, err := n.opts.Children.Child(name)
	if err != nil || c.State != registry.ChildApproved {
		return receiver.Child{}, false
	}
	return receiver.Child{Prefix: c.Prefix, Grants: c.All()}, true
}

// Parent returns the state of this node's parent; false without one.
func (n *Neighbours) Parent() (lineage.Parent, bool) {
	m, member := n.opts.Parent.Current()
	if !member {
		return lineage.Parent{}, false
	}
	state, since := n.opts.Link()
	return lineage.Parent{Name: m.Parent, As: m.Name, Online: state == sender.Connected, Since: since}, true
}

var (
	// ErrNoChild is the error about a name that is not a child of this node.
	ErrNoChild   = errors.New("is no child of this node, or not approved")
	errNotParent = errors.New("asks from above, and is not the parent of this node")
)

// Grants returns what a neighbour may do here.
func (n *Neighbours) Grants(from tree.Hop) (identity.Grants, error) {
	const op = "neighbour.Grants"
	if !from.Above {
		c, known := n.Child(from.Name)
		if !known {
			return identity.Grants{}, fault.E(op, fault.Refused, from.Name, ErrNoChild)
		}
		return c.Grants, nil
	}
	if _, member := n.opts.Parent.Current(); !member {
		return identity.Grants{}, fault.E(op, fault.Refused, from.Name, errNotParent)
	}
	return n.opts.Allowed()
}

// AskParent sends a request to the parent.
func (n *Neighbours) AskParent(ctx context.Context, method string, body []byte) ([]byte, error) {
	data, err := n.opts.Parent.Connection.Ask(ctx, method, body)
	if err == nil || !fault.Is(err, fault.Unreachable) {
		return data, err
	}
	if _, answered := errors.AsType[*wire.Failure](err); answered || errors.Is(err, enrol.ErrDetached) {
		return nil, err
	}
	return nil, fault.E("neighbour.AskParent", fault.Unreachable, method, &tree.LostError{})
}

// AskChild sends a request to a child.
func (n *Neighbours) AskChild(ctx context.Context, child, method string, body []byte) ([]byte, error) {
	data, err := n.opts.Bus.CallHeld(ctx, identity.ChildPrefix+child, method, body)
	if errors.Is(err, bus.ErrLost) {
		err = fault.E("neighbour.AskChild", fault.Unreachable, child, &tree.LostError{})
	}
	return data, err
}

// AskNewer sends a child a request that older versions of the program do not know, and returns the result: lacks
// describes what a child that is too old cannot do.
func (n *Neighbours) AskNewer(ctx context.Context, child, method string, body []byte, lacks string) ([]byte, error) {
	data, err := n.AskChild(ctx, child, method, body)
	if err != nil {
		return nil, err
	}
	result, err := tree.Parse(child, data)
	if e, is := errors.AsType[*fault.Error](err); is && e.Kind == fault.Refused && e.Subject == method { // nodes of any version answer unknown requests like this
		return nil, fault.E("neighbour.AskNewer", fault.NotFound, child, &tooOldError{version: n.opts.Version(child), lacks: lacks})
	}
	return result, err
}

// tooOldError says that a child's program does not know the request.
type tooOldError struct{ version, lacks string }

func (e *tooOldError) Error() string {
	program := "its program"
	if e.version != "" {
		program = "version " + e.version + " of its program"
	}
	return program + " does not " + e.lacks + " yet; update it"
}
