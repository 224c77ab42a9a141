// Package parent is the connection of a node to its parent: it joins and leaves a parent on request, reports the state of the link, and
// keeps it connected. The log goes up over it, requests come down, and live messages go both ways on a separate connection.
package parent

import (
	"context"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/uplink/enrol"
	"voltbus/uplink/live"
	"voltbus/uplink/sender"
	"voltbus/uplink/shape"
)

// Blocks is the log of a node. Package bus implements it.
type Blocks interface {
	Bounds(ctx context.Context) (first, last uint64, err error)
}

// Options configure a Membership. All are required.
type Options struct {
	Node, Version string // of this node
	Fingerprint   func() string
	Parent        *enrol.Parent
	Sender        *sender.Sender
	Blocks        Blocks
	Live          *live.Up
	Left          func() // is called when this node has left its parent
}

// Membership is a node's membership at its parent. It is safe for concurrent use.
type Membership struct{ opts Options }

// New returns a membership.
func New(o Options) *Membership { return &Membership{opts: o} }

// Parent returns the state of this node's membership.
func (p *Membership) Parent(ctx context.Context) (answer.Parent, error) {
	m, member := p.opts.Parent.Current()
	if !member {
		return answer.Parent{Addresses: []string{}}, nil
	}
	return answer.Parent{
		Member: true, Parent: m.Parent, Addresses: m.Addresses, Fingerprint: m.Fingerprint, Name: m.Name, Prefix: string(m.Prefix),
		State: string(m.State), Why: m.Why, Key: p.opts.Parent.Keyring.Print(), Joined: shape.Moment(m.Joined.UTC()),
		Uplink: p.uplink(ctx),
	}, nil
}

// uplink returns the state of this node's uplink.
func (p *Membership) uplink(ctx context.Context) *answer.Uplink {
	s, waiting := p.opts.Sender.Status(), uint64(0)
	if _, last, err := p.opts.Blocks.Bounds(ctx); err == nil {
		waiting = last - min(last, p.opts.Sender.Place())
	}
	out := shape.Uplink(&s, waiting)
	link := shape.Live(p.opts.Live.Status(), true)
	out.Live = &link
	return out
}

// JoinParent makes this node the child of the node that issued a code.
func (p *Membership) JoinParent(ctx context.Context, text, name string) (answer.Parent, error) {
	code, err := enrol.ParseCode(text)
	if err != nil {
		return answer.Parent{}, err
	}
	if code.Fingerprint.String() == p.opts.Fingerprint() {
		return answer.Parent{}, fault.E("parent.Join", fault.Invalid, "code", enrol.ErrSelf)
	}
	wish := enrol.JoinRequest{Name: name, Node: p.opts.Node, Version: p.opts.Version}
	if _, err := p.opts.Parent.Join(ctx, code, wish, Knock); err != nil {
		return answer.Parent{}, err
	}
	return p.Parent(ctx)
}

// LeaveParent removes this node's parent.
func (p *Membership) LeaveParent(context.Context) error {
	err := p.opts.Parent.Leave()
	if err == nil {
		p.opts.Left()
	}
	return err
}

// RotateKey gives this node a new key in place of the one known to its parent.
func (p *Membership) RotateKey(ctx context.Context) (answer.Parent, error) {
	if _, err := p.opts.Parent.Rotate(ctx, Knock); err != nil {
		return answer.Parent{}, err
	}
	return p.Parent(ctx)
}
