package exposition

import (
	"context"

	"voltbus/api/answer"
)

// nodeMetrics writes the state of the link to the parent, and what is known about the descendants.
func (m *Metrics) nodeMetrics(ctx context.Context, e *exposition) error {
	if m.Nodes == nil {
		return nil
	}
	list, err := m.Nodes.Nodes(ctx)
	if err != nil || len(list.Nodes) == 0 {
		return err
	}
	if self := &list.Nodes[0]; self.Link != "" {
		e.single("voltbus_uplink_connected", "gauge", "1 if this node is connected to its parent.", one(self.Link == answer.NodeOnline))
		e.single("voltbus_uplink_rtt_seconds", "gauge", "Time of a report to the parent and the answer.", self.RTTMS/1000)
		e.single("voltbus_uplink_clock_offset_seconds", "gauge", "Clock of this node less that of its parent.", self.OffsetMS/1000)
		e.single("voltbus_uplink_waiting_samples", "gauge", "Samples that the parent does not have yet.", float64(self.Waiting))
		age := 0.0
		if self.WaitingSince != nil {
			age = max(0, m.Now().Sub(*self.WaitingSince).Seconds())
		}
		e.single("voltbus_uplink_waiting_seconds", "gauge", "Age of the oldest sample that the parent does not have yet.", age)
	}
	for _, f := range nodeFigures() {
		e.family(f.name, f.kind, f.help)
		for i := range list.Nodes[1:] {
			if n := &list.Nodes[1+i]; f.child == nil {
				e.value(f.name, "node", n.Name, f.of(n))
			} else if n.Received != nil {
				e.value(f.name, "node", n.Name, float64(f.child(n.Received)))
			}
		}
	}
	for _, f := range liveFigures() {
		e.family(f.name, f.kind, f.help)
		for i := range list.Nodes {
			if n := &list.Nodes[i]; n.Live != nil {
				e.value(f.name, "node", n.Name, f.of(n.Live))
			}
		}
	}
	return nil
}

// liveFigure is a figure of the live messages on the links to children and, under this node's name, on the link to its parent.
type liveFigure struct {
	name, kind, help string
	of               func(*answer.LiveLink) float64
}

func liveFigures() []liveFigure {
	list := []liveFigure{
		{"voltbus_live_link_connected", "gauge", "1 if live messages can go between the node and its parent.", func(l *answer.LiveLink) float64 { return one(l.Connected) }},
		{"voltbus_live_link_refused_total", "counter", "Live messages of the other end that were not taken.", func(l *answer.LiveLink) float64 { return float64(l.Refused) }},
	}
	for _, way := range []struct {
		name, to string
		of       func(*answer.LiveLink) *answer.LiveFlow
	}{
		{"up", "from the node to its parent", func(l *answer.LiveLink) *answer.LiveFlow { return &l.Up }},
		{"down", "to the node from its parent", func(l *answer.LiveLink) *answer.LiveFlow { return &l.Down }},
	} {
		list = append(
			list,
			liveFigure{"voltbus_live_" + way.name + "_subjects", "gauge", "Subjects that are wanted, " + way.to + ".", func(l *answer.LiveLink) float64 { return float64(way.of(l).Wanted) }},
			liveFigure{"voltbus_live_" + way.name + "_messages_total", "counter", "Live messages " + way.to + ".", func(l *answer.LiveLink) float64 { return float64(way.of(l).Messages) }},
			liveFigure{"voltbus_live_" + way.name + "_bytes_total", "counter", "Bytes on the link of live messages " + way.to + ".", func(l *answer.LiveLink) float64 { return float64(way.of(l).Bytes) }},
			liveFigure{"voltbus_live_" + way.name + "_dropped_total", "counter", "Live messages that the link did not carry in time, " + way.to + ".", func(l *answer.LiveLink) float64 { return float64(way.of(l).Dropped) }},
		)
	}
	return list
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// nodeFigure is a metric of descendants: of all, or of children only.
type nodeFigure struct {
	name, kind, help string
	of               func(*answer.Node) float64
	child            func(*answer.Received) uint64
}

func nodeFigures() []nodeFigure {
	const gauge, counter = "gauge", "counter"
	return []nodeFigure{
		{"voltbus_node_connected", gauge, "1 if a descendant is connected.", func(n *answer.Node) float64 { return one(n.State == answer.NodeOnline) }, nil},
		{"voltbus_node_rtt_seconds", gauge, "Round-trip time between a descendant and its parent.", func(n *answer.Node) float64 { return n.RTTMS / 1000 }, nil},
		{"voltbus_node_clock_offset_seconds", gauge, "Clock of a descendant minus the clock of its parent.", func(n *answer.Node) float64 { return n.OffsetMS / 1000 }, nil},
		{"voltbus_node_waiting_samples", gauge, "Samples of a descendant that its parent does not have yet.", func(n *answer.Node) float64 { return float64(n.Waiting) }, nil},
		{"voltbus_node_disk_bytes", gauge, "Free bytes for the data of a descendant.", func(n *answer.Node) float64 { return float64(n.Disk) }, nil},
		{"voltbus_node_devices_failing", gauge, "Devices of a descendant that do not answer, or only with errors.", func(n *answer.Node) float64 { return float64(n.DevicesFailing) }, nil},
		{"voltbus_node_agents_failing", gauge, "Failing agents of a descendant.", func(n *answer.Node) float64 { return float64(n.AgentsFailing) }, nil},
		{"voltbus_node_alerts", gauge, "Open alarms of a descendant.", func(n *answer.Node) float64 { return float64(n.Alerts) }, nil},
		{"voltbus_child_received_samples_total", counter, "Samples that came from a child since the start.", nil, func(r *answer.Received) uint64 { return r.Samples }},
		{"voltbus_child_received_bytes_total", counter, "Bytes of blocks that came from a child since the start.", nil, func(r *answer.Received) uint64 { return r.Bytes }},
	}
}
