package node

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"voltbus/bus/dispatch"
	"voltbus/bus/peer"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/recorder"
	"voltbus/uplink"
	"voltbus/uplink/enrol"
	"voltbus/uplink/sender"
	"voltbus/wire"
)

// uplinkFile remembers how far the parent has the log.
const uplinkFile = "uplink.json"

// openUplink makes what sends the log to the parent. It dials nobody.
func (n *Node) openUplink(context.Context) error {
	cfg := n.opts.Config.Uplink
	renames := make([]uplink.Rename, len(cfg.Rename))
	for i, r := range cfg.Rename {
		renames[i] = uplink.Rename(r)
	}
	n.sender = sender.New(sender.Config{
		Dial: n.dialParent, Own: n.ownPositions, Store: n.history.Name, Describe: n.describeUp,
		File: filepath.Join(n.opts.Config.Node.Data, uplinkFile), Version: n.opts.Version.Version,
		Select: cfg.Select, Rename: renames, Rate: int64(cfg.Rate), Age: cfg.Age, Patience: cfg.Silence, Turned: n.turnedAbove, Log: n.log,
	}, n.blocks)
	return nil
}

// ownPositions returns how far this node's origins are on disk.
func (n *Node) ownPositions() map[string]uplink.Position {
	out := map[string]uplink.Position{}
	for _, s := range n.recorder.Lanes() {
		out[s.Origin] = uplink.Position{Sequence: s.Sequence, Samples: s.Acknowledged}
	}
	return out
}

// sendUp sends the log to the parent as long as there is one.
func (n *Node) sendUp(ctx context.Context) error {
	for ctx.Err() == nil {
		changed := n.parent.Changed()
		m, member := n.parent.Current()
		if !member || m.State == enrol.Pending {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		n.sendTo(ctx, &m)
	}
	return nil
}

// sendTo sends until the node leaves that parent.
func (n *Node) sendTo(ctx context.Context, m *enrol.Membership) {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = n.sender.Run(ctx) // always nil
	}()
	defer func() { <-done }()
	defer end()
	for {
		changed := n.parent.Changed()
		now, member := n.parent.Current()
		if !member || now.State == enrol.Pending || now.Fingerprint != m.Fingerprint || now.Name != m.Name || !now.Joined.Equal(m.Joined) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// above implements sender.Session over a connection to the parent.
type above struct {
	sender.Session
	node   *Node
	parent *peer.Parent
	key    *identity.Key // that it was made with
	detach func()
	quiet  func() // ends the live messages
}

// dialUp dials as knock does, for a connection that stays.
func (n *Node) dialUp(ctx context.Context, address string, config *tls.Config, key *identity.Key, name string) (enrol.Door, error) {
	p, err := peer.DialParent(ctx, peer.Way{Address: address, TLS: config, Silence: n.opts.Config.Uplink.Silence}, key, name)
	if err != nil {
		return nil, err
	}
	return p, nil
}

var errDoor = errors.New("the connection to the parent is of another kind")

// dialParent connects to the parent.
func (n *Node) dialParent(ctx context.Context) (sender.Session, error) {
	door, key, err := n.parent.Open(ctx, n.dialUp)
	if err != nil {
		return nil, err
	}
	p, ok := door.(*peer.Parent)
	if !ok {
		door.Close()
		return nil, fault.E("node.dialParent", fault.Internal, "", errDoor)
	}
	session, err := sender.Over(p)
	if err == nil {
		err = p.Serve(n.answerAbove)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return &above{Session: session, node: n, parent: p, key: key, detach: func() {}, quiet: func() {}}, nil
}

// Renewed implements sender.Renewer.
func (s *above) Renewed() bool { return s.node.parent.Replaced(s.key) }

// Hello implements sender.Session. What the parent says of this node is kept.
func (s *above) Hello(ctx context.Context, h uplink.Hello) (w uplink.Welcome, err error) {
	for origin, have := range s.node.receiver.Positions(slices.Collect(maps.Keys(h.Origins))) {
		if have.Sequence > h.Origins[origin].Sequence { // what waits here of nodes below
			h.Origins[origin] = have
		}
	}
	if w, err = s.Session.Hello(ctx, h); err == nil {
		s.detach = s.node.parent.Attach(s.parent.Ask)
		return w, errors.Join(s.node.parent.Met(w.Name, w.Prefix), s.node.parent.Report(enrol.Approved, ""))
	}
	if state, why := enrol.StateOf(err); state != "" {
		err = errors.Join(err, s.node.parent.Report(state, why))
	}
	return w, err
}

// Start implements sender.Starter.
func (s *above) Start(w *uplink.Welcome) {
	if w.Live {
		s.quiet = s.sendLive()
	}
}

// Close implements sender.Session.
func (s *above) Close() {
	s.quiet()
	s.detach()
	s.Session.Close()
}

var errAbove = errors.New("is nothing that a node is asked from above")

// answerAbove answers what the parent asks that concerns the tree.
func (n *Node) answerAbove(ctx context.Context, r dispatch.Request) {
	if r.From == wire.NodeName && answersTree(&r) {
		_ = r.Respond(n.answerParentTree(ctx, &r)) // who asked may be gone
		return
	}
	_ = r.Respond(refusal(fault.E("node.answerAbove", fault.Refused, r.Method, errAbove)))
}

// refusal is the body of an answer that reports an error.
func refusal(err error) []byte {
	body, _ := json.Marshal(wire.Reply{Error: uplink.FailureOf(err, identity.MissingOf(err))}) // texts
	return body
}

// describeUp returns all points of the catalogue, also those that were removed.
func (n *Node) describeUp(ctx context.Context) ([]uplink.Description, error) {
	var out []uplink.Description
	f := catalog.Filter{Removed: true, Limit: 10 * catalog.PageSize}
	for {
		page, err := n.catalog.Search(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range page.Entries {
			e := &page.Entries[i]
			out = append(out, uplink.Description{
				Path: e.Path, Kind: e.Kind.String(), Unit: e.Unit, Description: e.Description, Writable: e.Writable,
				Device: e.Device, Interval: e.Interval, Tags: e.Tags, Removed: !e.Removed.IsZero(),
			})
		}
		if f.After = page.Next; f.After == "" {
			return out, nil
		}
	}
}

// uplinkPositions returns the recorder's positions as the uplink has them.
func uplinkPositions(all map[string]recorder.Position) map[string]uplink.Position {
	out := make(map[string]uplink.Position, len(all))
	for origin, p := range all {
		out[origin] = uplink.Position{Sequence: p.Sequence, Samples: p.Samples}
	}
	return out
}
