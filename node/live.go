package node

import (
	"context"
	"slices"
	"strings"

	"voltbus/bus"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink/live"
	"voltbus/uplink/receiver"
	"voltbus/uplink/tree"
)

// openLive connects live messages with the nodes around this one.
func openLive(_ context.Context, n *Node) error {
	tap := func() (live.Tap, error) { return newLiveTap(n.bus) }
	n.liveUp = live.NewUp(live.UpConfig{
		Tap: tap, Rules: func() live.Rules { return liveRules(n) }, Hear: n.opts.Config.Uplink.Hear, Rate: int64(n.opts.Config.Uplink.LiveRate),
		Behind: func(name string) bool { return behind(n.tree, name) }, Turned: func() { n.liveHub.Changed() }, Below: func() []live.Withheld { return n.liveHub.Withheld() }, Log: n.log,
	})
	n.liveHub = live.NewHub(live.HubConfig{
		Name: n.opts.Config.Node.Name, Tap: tap, Send: n.bus.SendFlow, Connected: n.bus.Flows, Child: func(name string) (live.Child, bool) { return liveChild(n.neighbours.Child(name)) },
		Behind: func(child, node string) bool {
			return slices.ContainsFunc(n.nodes.Branch(child), func(name string) bool { return strings.EqualFold(name, node) })
		},
		Turnover: n.bus.Turnover, Interest: n.bus.Interest, Above: n.liveUp.Wanted, Refused: n.report.Live, Withheld: n.liveUp.Withheld, Log: n.log,
	})
	return n.bus.ReceiveFlows(func(f bus.FrameFlow) { n.liveHub.Receive(f.Child, f.Session, f.Data) }) //nolint:contextcheck // the hub has that of its Run
}

// liveRules returns the rules for live messages to the parent.
func liveRules(n *Node) live.Rules {
	above, _ := n.neighbours.Parent()
	grants, err := allowed(&n.Config().Uplink)
	if err != nil { // checked when the configuration was read
		grants = identity.Grants{}
	}
	return live.Rules{Naming: n.sender.Naming(), Grants: grants, Self: above.As, Judged: n.judged.Judges()}
}

// liveChild returns the live messages that a child may send and receive.
func liveChild(c receiver.Child, known bool) (live.Child, bool) {
	return live.Child{Publish: publishable(&c.Grants), Subscribe: identity.Grants{Subscribe: c.Grants.Subscribe, Administer: c.Grants.Administer}}, known
}

// publishable returns the subjects on which a key holder may publish.
func publishable(g *identity.Grants) []point.Pattern {
	if g.Administer {
		return []point.Pattern{"**"}
	}
	return g.Publish
}

// behind reports whether a node is this one, or a descendant.
func behind(t *tree.Tree, name string) bool {
	return t.Self(name) || !t.By(name).Above
}

// liveTap implements live.Tap over the bus.
type liveTap struct{ *bus.Tap }

func newLiveTap(b *bus.Bus) (live.Tap, error) {
	t, err := b.NewTap()
	if err != nil {
		return nil, err
	}
	return liveTap{t}, nil
}

// Publish implements live.Tap.
func (t liveTap) Publish(m *live.Message) error {
	return t.Tap.Publish(&bus.TapMessage{Subject: m.Subject, Header: m.Header, Data: m.Data})
}

// Take implements live.Tap.
func (t liveTap) Take(deliver func(live.Message)) (stop func(), lost func() int, err error) {
	return t.Tap.Subscribe(func(m bus.TapMessage) { deliver(live.Message{Subject: m.Subject, Header: m.Header, Data: m.Data}) })
}

// Live describes the live messages to the parent, and by each child.
func (n *Node) Live() (above live.Status, below map[string]live.Status) {
	return n.liveUp.Status(), n.liveHub.Status()
}
