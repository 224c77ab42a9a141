package node

import (
	"context"
	"errors"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/bus/dispatch"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink"
	"voltbus/uplink/live"
	"voltbus/uplink/neighbour"
	"voltbus/uplink/receiver"
	"voltbus/uplink/replica"
	"voltbus/uplink/shape"
	"voltbus/wire"
)

// answerReport takes what a child reports of itself and those below it.
func (n *Node) answerReport(ctx context.Context, r *dispatch.Request) []byte {
	const op = "node.answerReport"
	child := strings.TrimPrefix(r.From, identity.ChildPrefix)
	if _, known := n.neighbours.Child(child); !known {
		return uplink.Refusal(fault.E(op, fault.Refused, child, neighbour.ErrNoChild))
	}
	before := n.heads.OfChild(child)
	take := n.nodes.Take
	if r.Method != replica.ReportMethod {
		take = func(child string, body []byte, audit string) ([]byte, error) {
			return n.nodes.TakeFormer(child, r.Method, body, audit)
		}
	}
	answer, err := take(child, r.Data, before)
	if err != nil {
		return uplink.Refusal(err)
	}
	if seen, reported := n.nodes.Look(child, child); reported && seen.Audit != "" && !seen.Kept {
		n.heads.Receive(ctx, child, before, seen.Audit)
	}
	return wire.AppendResult(nil, answer)
}

// nodes implements stream.Nodes.
type nodes struct{ node *Node }

// Nodes implements stream.Nodes.
func (a nodes) Nodes(ctx context.Context) (answer.Nodes, error) {
	above, refused := a.node.lineage.Ancestors()
	below := a.node.nodes.Nodes()
	out := answer.Nodes{Nodes: make([]answer.Node, 0, 1+len(below)), Above: append([]string{}, above...), Refused: []answer.RefusedNode{}}
	for _, r := range refused {
		out.Refused = append(out.Refused, answer.RefusedNode{Name: r.Name, Why: r.Why})
	}
	out.Nodes = append(out.Nodes, a.self(ctx))
	here := a.meet()
	for i := range below {
		out.Nodes = append(out.Nodes, a.show(&below[i], here))
	}
	return out, nil
}

var errNoNode = errors.New("no node of this name is known here; voltbus nodes lists those that are")

// Node implements stream.Nodes.
func (a nodes) Node(ctx context.Context, name string) (answer.Node, error) {
	if a.node.tree.Self(name) {
		return a.self(ctx), nil
	}
	below := a.node.nodes.Nodes()
	for i := range below {
		if strings.EqualFold(below[i].Name, name) {
			return a.show(&below[i], a.meet()), nil
		}
	}
	return answer.Node{}, fault.E("node.Node", fault.NotFound, name, errNoNode)
}

// self shows this node. The way to its parent is shown as it is now.
func (a nodes) self(ctx context.Context) answer.Node {
	seen := a.node.nodes.Self()
	seen.Link, seen.LinkNote, seen.Waiting, seen.WaitingOctets, seen.WaitingSince = "", "", 0, 0, 0
	a.node.linkStatus(ctx, &seen.Status)
	out := shownNode(&seen)
	out.Name, out.State, out.Path, out.Origins = a.node.opts.Config.Node.Name, answer.NodeHere, []string{}, a.node.ownOrigins()
	if m, member := a.node.parent.Current(); member {
		out.Parent = m.Parent
		above := shape.Live(a.node.liveUp.Status(), true)
		out.Live = &above
	}
	return out
}

// met is what this node knows of its children by their connections.
type met struct {
	present  map[string]time.Time
	received map[string]receiver.Counts
	live     map[string]live.Status
	outages  func(child string) []receiver.Outage
}

func (a nodes) meet() *met {
	return &met{present: a.node.bus.Present(), received: a.node.receiver.Status(), live: a.node.liveHub.Status(), outages: a.node.receiver.Outages}
}

// show shows a node below this one.
func (a nodes) show(b *replica.Node, here *met) answer.Node {
	seen, _ := a.node.nodes.Look(b.Path[0], b.Name)
	out := shownNode(&seen)
	out.Name, out.Path, out.Prefix = b.Name, append([]string{}, b.Path...), string(b.Prefix)
	out.Origins = append([]string{}, b.Origins...)
	out.Parent = a.node.opts.Config.Node.Name
	if hops := len(b.Path); hops > 1 {
		out.Parent = b.Path[hops-2]
	}
	out.State = answer.NodeOnline
	if !b.Away.IsZero() {
		out.State, out.Since = answer.NodeAway, shape.Moment(b.Away.UTC())
	}
	if len(b.Path) == 1 {
		here.add(&out, &seen)
		return out
	}
	for _, o := range seen.Outages {
		out.Outages = append(out.Outages, answer.Outage{
			From: time.UnixMilli(o.From).UTC(), Unknown: toldAt(o.Unknown), To: toldAt(o.To), Waited: o.Waited, Coming: o.Coming, Missing: o.Missing, Left: o.Left, Done: toldAt(o.Done),
			At: out.Parent,
		})
	}
	return out
}

// toldAt is a moment that another node told in milliseconds; nil for 0.
func toldAt(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := time.UnixMilli(ms).UTC()
	return &t
}

// outagesOf returns the outages of a child, to tell them upwards.
func (n *Node) outagesOf(child string) []replica.Outage {
	known := n.receiver.Outages(child)
	out := make([]replica.Outage, len(known))
	for i, o := range known {
		out[i] = replica.Outage{From: o.From.UnixMilli(), Waited: o.Waited, Coming: o.Coming, Missing: o.Missing, Left: o.Left}
		if !o.Unknown.IsZero() {
			out[i].Unknown = o.Unknown.UnixMilli()
		}
		if !o.To.IsZero() {
			out[i].To = o.To.UnixMilli()
		}
		if !o.Done.IsZero() {
			out[i].Done = o.Done.UnixMilli()
		}
	}
	return out
}

// add adds what this node measured of a child.
func (h *met) add(out *answer.Node, seen *replica.Seen) {
	if s, has := h.live[out.Name]; has {
		link := shape.Live(s, false)
		out.Live = &link
	}
	if since, is := h.present[identity.ChildPrefix+out.Name]; is {
		out.Since = shape.Moment(since.UTC())
	}
	if !seen.Heard.IsZero() {
		skew := shape.Millis(seen.Skew)
		out.SkewMS = &skew
	}
	for _, o := range h.outages(out.Name) {
		out.Outages = append(out.Outages, answer.Outage{
			From: o.From.UTC(), Unknown: shape.Moment(o.Unknown.UTC()), To: shape.Moment(o.To.UTC()), Waited: o.Waited, Coming: o.Coming, Missing: o.Missing, Left: o.Left, Done: shape.Moment(o.Done.UTC()),
		})
	}
	c, had := h.received[out.Name]
	if !had {
		return
	}
	r := &answer.Received{
		Blocks: c.Blocks, Samples: c.Samples, Octets: c.Octets, Repeated: c.Repeated, Missing: c.Missing, Left: c.Left, Dropped: c.Dropped,
	}
	if c.Refusal != nil {
		r.Reason = c.Refusal.Error()
	}
	out.Received = r
}

// shownNode is what a node says of itself.
func shownNode(s *replica.Seen) answer.Node {
	out := answer.Node{
		Version: s.Version, Roles: append([]string{}, s.Roles...), Heard: shape.Moment(s.Heard.UTC()),
		Link: s.Link, LinkNote: s.LinkNote, RTTMS: s.RTT, OffsetMS: s.Offset,
		Waiting: s.Waiting, WaitingOctets: s.WaitingOctets, Disk: s.Disk, DiskSize: s.DiskSize, Celsius: s.Temperature,
		Memory: s.Memory, CPU: s.CPU, Devices: s.Devices, DevicesFailing: s.DevicesFailing, Points: s.Points,
		Agents: s.Agents, AgentsFailing: s.AgentsFailing, Alerts: s.Alerts, Health: s.Health, Note: s.Note,
	}
	if s.Heard.IsZero() {
		out.Heard = nil
	}
	if s.Started != 0 {
		out.Started = shape.Moment(time.Unix(s.Started, 0).UTC())
	}
	if s.WaitingSince != 0 {
		out.WaitingSince = shape.Moment(time.Unix(s.WaitingSince, 0).UTC())
	}
	return out
}
