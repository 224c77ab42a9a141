package node

import (
	"slices"

	"voltbus/identity"
	"voltbus/verdict"
)

// childFacts says how the nodes below are.
func (n *Node) childFacts() []verdict.Child {
	var list []verdict.Child
	for _, c := range n.children.List() {
		if c.State == identity.ChildPending {
			list = append(list, verdict.Child{Name: c.Name, Pending: true, Since: c.Joined})
		}
	}
	received := n.receiver.Status()
	because := map[string]bool{} // nodes below which one is not well
	for _, b := range slices.Backward(n.nodes.Nodes()) {
		c := verdict.Child{Name: b.Name, Away: !b.Away.IsZero(), Since: b.Away}
		if len(b.Path) == 1 {
			c.Crowded = n.served.Crowded(b.Name)
		}
		if r, has := received[b.Name]; has && len(b.Path) == 1 && r.Refusal != nil && !c.Away {
			c.Refused = r.Refusal.Error()
		}
		if told, is := n.nodes.Look(b.Path[0], b.Name); is {
			c.Devices, c.Agents, c.Alerts = told.DevicesFailing, told.AgentsFailing, told.Alerts
			c.Unwell = told.Health == "degraded" && !because[b.Name]
		}
		if c.Away || c.Refused+c.Crowded != "" || c.Unwell || c.Devices+c.Agents > 0 {
			for _, above := range b.Path {
				because[above] = true
			}
		}
		list = append(list, c)
	}
	return list
}

// countNodes counts the nodes below, and their devices.
func (n *Node) countNodes(c *verdict.Count) {
	for _, b := range n.nodes.Nodes() {
		told, _ := n.nodes.Look(b.Path[0], b.Name)
		c.Nodes, c.DevicesBelow = c.Nodes+1, c.DevicesBelow+told.Devices
		if b.Away.IsZero() {
			c.Connected, c.WellBelow = c.Connected+1, c.WellBelow+told.Devices-told.DevicesFailing
		}
	}
}
