// Package descendants presents the descendants of this node to the API, to health, and to queries of the history.
package descendants

import (
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/uplink/children"
	"voltbus/uplink/live"
	"voltbus/uplink/neighbour"
	"voltbus/uplink/receiver"
	"voltbus/uplink/replica"
	"voltbus/uplink/shape"
)

// Descendants combines the reports of the descendants with what this node observes of its children. It is safe for concurrent use.
type Descendants struct {
	Name       string // of this node
	Table      *replica.Table
	Children   *registry.Children
	Neighbours *neighbour.Neighbours
	Receiver   *receiver.Receiver
	Served     *children.Children

	Present func() map[string]time.Time   // clients on the bus, and since when
	Live    func() map[string]live.Status // live messages by child
}

// All lists the descendants.
func (d *Descendants) All() []answer.Node {
	below, here := d.Table.Nodes(), d.meet()
	out := make([]answer.Node, len(below))
	for i := range below {
		out[i] = d.show(&below[i], here)
	}
	return out
}

// Connected lists the names of the descendants that are connected.
func (d *Descendants) Connected() (names []string) {
	for _, n := range d.All() {
		if n.State == answer.NodeOnline {
			names = append(names, n.Name)
		}
	}
	return names
}

// Named returns the descendant of a name.
func (d *Descendants) Named(name string) (answer.Node, bool) {
	below := d.Table.Nodes()
	for i := range below {
		if strings.EqualFold(below[i].Name, name) {
			return d.show(&below[i], d.meet()), true
		}
	}
	return answer.Node{}, false
}

// met is what this node knows about its children from their connections.
type met struct {
	present  map[string]time.Time
	received map[string]receiver.Counts
	live     map[string]live.Status
	outages  func(child string) []receiver.Outage
}

func (d *Descendants) meet() *met {
	return &met{present: d.Present(), received: d.Receiver.Status(), live: d.Live(), outages: d.Receiver.Outages}
}

// show returns a descendant in the shape of the API.
func (d *Descendants) show(b *replica.Node, here *met) answer.Node {
	seen, _ := d.Table.Look(b.Path[0], b.Name)
	out := Shape(&seen)
	out.Name, out.Path, out.Prefix = b.Name, append([]string{}, b.Path...), string(b.Prefix)
	out.Origins = append([]string{}, b.Origins...)
	out.Parent = d.Name
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

// add adds this node's measurements of a child.
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
		Blocks: c.Blocks, Samples: c.Samples, Bytes: c.Bytes, Repeated: c.Repeated, Missing: c.Missing, Left: c.Left, Dropped: c.Dropped,
	}
	if c.Refusal != nil {
		r.Reason = c.Refusal.Error()
	}
	out.Received = r
}

// toldAt converts a time in milliseconds from another node; nil for 0.
func toldAt(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := time.UnixMilli(ms).UTC()
	return &t
}

// Shape converts a node's own report.
func Shape(s *replica.Seen) answer.Node {
	out := answer.Node{
		Version: s.Version, Roles: append([]string{}, s.Roles...), Heard: shape.Moment(s.Heard.UTC()),
		Link: s.Link, LinkNote: s.LinkNote, RTTMS: s.RTT, OffsetMS: s.Offset,
		Waiting: s.Waiting, WaitingBytes: s.WaitingBytes, Disk: s.Disk, DiskSize: s.DiskSize, Celsius: s.Temperature,
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
