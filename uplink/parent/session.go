package parent

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"slices"
	"time"

	"voltbus/bus/dispatch"
	"voltbus/bus/peer"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink"
	"voltbus/uplink/enrol"
	"voltbus/uplink/live"
	"voltbus/uplink/sender"
)

// Knock connects to another node, for a few requests.
func Knock(ctx context.Context, address string, config *tls.Config, key *identity.Key, name string) (enrol.Door, error) {
	j, err := peer.Join(ctx, address, config, key, name)
	if err != nil {
		return nil, err
	}
	return j, nil
}

// Dialer connects to the parent. All fields are required.
type Dialer struct {
	Parent  *enrol.Parent
	Silence time.Duration // time without data after which a connection counts as lost
	// Positions returns how far the origins of descendants are on this node's disk.
	Positions func(origins []string) map[string]uplink.Position
	// Answer answers requests of the parent.
	Answer func(ctx context.Context, r dispatch.Request)
	// Live exchanges live messages over connections opened by dial, until ctx ends.
	Live func(ctx context.Context, dial func(ctx context.Context, deliver func([]byte)) (live.Conn, error))
}

var errDoor = errors.New("the connection to the parent is of another kind")

// Dial implements sender.Dial.
func (d *Dialer) Dial(ctx context.Context) (sender.Session, error) {
	door, key, err := d.Parent.Open(ctx, d.connect)
	if err != nil {
		return nil, err
	}
	p, ok := door.(*peer.Parent)
	if !ok {
		door.Close()
		return nil, fault.E("parent.Dial", fault.Internal, "", errDoor)
	}
	over, err := sender.Over(p)
	if err == nil {
		err = p.Serve(d.Answer)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return &session{Session: over, dialer: d, parent: p, key: key, detach: func() {}, quiet: func() {}}, nil
}

// connect dials as Knock does, for a connection that stays.
func (d *Dialer) connect(ctx context.Context, address string, config *tls.Config, key *identity.Key, name string) (enrol.Door, error) {
	p, err := peer.DialParent(ctx, peer.Way{Address: address, TLS: config, Silence: d.Silence}, key, name)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// session implements sender.Session over a connection to the parent.
type session struct {
	sender.Session
	dialer *Dialer
	parent *peer.Parent
	key    *identity.Key // with which it was opened
	detach func()
	quiet  func() // ends the live messages
}

// Renewed implements sender.Renewer.
func (s *session) Renewed() bool { return s.dialer.Parent.Replaced(s.key) }

// Hello implements sender.Session. What the parent reports about this node is stored.
func (s *session) Hello(ctx context.Context, h uplink.Hello) (w uplink.Welcome, err error) {
	for origin, have := range s.dialer.Positions(slices.Collect(maps.Keys(h.Origins))) {
		if have.Sequence > h.Origins[origin].Sequence { // the backlog of descendants
			h.Origins[origin] = have
		}
	}
	known := s.dialer.Parent
	if w, err = s.Session.Hello(ctx, h); err == nil {
		s.detach = known.Connection.Attach(s.parent.Ask)
		return w, errors.Join(known.Met(w.Name, w.Prefix), known.Report(enrol.Approved, ""))
	}
	if state, why := enrol.StateOf(err); state != "" {
		err = errors.Join(err, known.Report(state, why))
	}
	return w, err
}

// Start implements sender.Starter.
func (s *session) Start(w *uplink.Welcome) {
	if w.Live {
		s.quiet = s.sendLive()
	}
}

// sendLive exchanges live messages over a separate connection to the parent, until stop is called.
func (s *session) sendLive() (stop func()) {
	ctx, end := context.WithCancel(context.Background()) //nolint:gosec // ended by stop
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.dialer.Live(ctx, func(ctx context.Context, deliver func([]byte)) (conn live.Conn, err error) {
			err = s.dialer.Parent.While(ctx, s.key, func() error {
				flow, err := s.parent.DialFlow(ctx, deliver)
				if err == nil {
					conn = flow
				}
				return err
			})
			return conn, err
		})
	}()
	return func() { end(); <-done }
}

// Close implements sender.Session.
func (s *session) Close() {
	s.quiet()
	s.detach()
	s.Session.Close()
}

// Follow sends the log to the parent, whenever there is one, until ctx ends.
func Follow(ctx context.Context, parent *enrol.Parent, send *sender.Sender) error {
	for ctx.Err() == nil {
		changed := parent.Changed()
		m, member := parent.Current()
		if !member || m.State == enrol.Pending {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		sendTo(ctx, parent, send, &m)
	}
	return nil
}

// sendTo sends until the node leaves that parent.
func sendTo(ctx context.Context, parent *enrol.Parent, send *sender.Sender, m *enrol.Membership) {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = send.Run(ctx) // always nil
	}()
	defer func() { <-done }()
	defer end()
	for {
		changed := parent.Changed()
		now, member := parent.Current()
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

// Descriptions returns all points of a catalogue, including removed ones, in the form for the parent.
func Descriptions(ctx context.Context, points *catalog.Catalog) ([]uplink.Description, error) {
	var out []uplink.Description
	f := catalog.Filter{Removed: true, Limit: 10 * catalog.PageSize}
	for {
		page, err := points.Search(ctx, f)
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
