package node

import (
	"context"
	"crypto/tls"
	"log/slog"

	"voltbus/api/answer"
	"voltbus/bus/peer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink/enrol"
)

// knock connects to another node, to ask it a few things.
func knock(ctx context.Context, address string, config *tls.Config, key *identity.Key, name string) (enrol.Door, error) {
	j, err := peer.Join(ctx, address, config, key, name)
	if err != nil {
		return nil, err
	}
	return j, nil
}

// awaitApproval asks the parent, as long as this node waits for it, whether somebody approved it.
func (n *Node) awaitApproval(ctx context.Context) error {
	return n.parent.Run(ctx, knock, func(err error) {
		n.log.InfoContext(ctx, "the node above was asked", slog.Any("err", err))
	})
}

// parent implements parent.Parent.
type parent struct{ node *Node }

// Parent implements parent.Parent.
func (p parent) Parent(ctx context.Context) (answer.Parent, error) {
	m, member := p.node.parent.Current()
	if !member {
		return answer.Parent{Addresses: []string{}}, nil
	}
	return answer.Parent{
		Member: true, Parent: m.Parent, Addresses: m.Addresses, Fingerprint: m.Fingerprint, Name: m.Name, Prefix: string(m.Prefix),
		State: string(m.State), Why: m.Why, Key: p.node.parent.Print(), Joined: moment(m.Joined.UTC()),
		Uplink: p.node.uplinkStatus(ctx),
	}, nil
}

// JoinParent implements parent.Parent.
func (p parent) JoinParent(ctx context.Context, text, name string) (answer.Parent, error) {
	code, err := enrol.ParseCode(text)
	if err != nil {
		return answer.Parent{}, err
	}
	if code.Fingerprint.String() == p.node.identity.Certificates.Fingerprint() {
		return answer.Parent{}, fault.E("node.JoinParent", fault.Invalid, "code", enrol.ErrSelf)
	}
	wish := enrol.Wish{Name: name, Node: p.node.opts.Config.Node.Name, Version: p.node.opts.Version.Version}
	if _, err := p.node.parent.Join(ctx, code, wish, knock); err != nil {
		return answer.Parent{}, err
	}
	return p.Parent(ctx)
}

// LeaveParent implements parent.Parent.
func (p parent) LeaveParent(context.Context) error {
	err := p.node.parent.Leave()
	if err == nil {
		p.node.reviewer.Remote()
	}
	return err
}

// RotateKey implements parent.Parent.
func (p parent) RotateKey(ctx context.Context) (answer.Parent, error) {
	if _, err := p.node.parent.Rotate(ctx, knock); err != nil {
		return answer.Parent{}, err
	}
	return p.Parent(ctx)
}
