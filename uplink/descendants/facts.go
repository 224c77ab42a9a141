package descendants

import (
	"slices"
	"strings"
	"time"

	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/uplink/federation"
	"voltbus/uplink/replica"
	"voltbus/verdict"
)

// Facts returns the health of the descendants.
func (d *Descendants) Facts() []verdict.Child {
	var list []verdict.Child
	for _, c := range d.Children.List() {
		if c.State == registry.ChildPending {
			list = append(list, verdict.Child{Name: c.Name, Pending: true, Since: c.Joined})
		}
	}
	received := d.Receiver.Status()
	because := map[string]bool{} // names of the descendants that cause another one's problem
	for _, b := range slices.Backward(d.Table.Nodes()) {
		c := verdict.Child{Name: b.Name, Away: !b.Away.IsZero(), Since: b.Away}
		if len(b.Path) == 1 {
			c.Crowded = d.Served.Crowded(b.Name)
		}
		if r, has := received[b.Name]; has && len(b.Path) == 1 && r.Refusal != nil && !c.Away {
			c.Refused = r.Refusal.Error()
		}
		if told, is := d.Table.Look(b.Path[0], b.Name); is {
			takeTold(&c, &told)
			c.Unwell = c.Unwell && !because[b.Name]
		}
		if c.Away || c.Refused+c.Crowded != "" || c.Unwell || c.Devices+c.Agents+c.Alarms > 0 {
			for _, above := range b.Path {
				because[above] = true
			}
		}
		list = append(list, c)
	}
	return list
}

// takeTold takes over what a descendant told of itself.
func takeTold(c *verdict.Child, told *replica.Seen) {
	c.All, c.Devices, c.Agents, c.Alarms, c.Unwell = told.Devices, told.DevicesFailing, told.AgentsFailing, told.Alerts, told.Health == "degraded"
	if told.WaitingSince > 0 {
		c.Waits = time.Unix(told.WaitingSince, 0).Add(-time.Duration(told.Offset * float64(time.Millisecond))) // by this node's clock
	}
}

// Historians lists the children that may be asked for history.
func (d *Descendants) Historians() []federation.Child {
	if len(d.Children.List()) == 0 {
		return nil
	}
	away := map[string]time.Time{}
	below := d.Table.Nodes()
	for i := range below {
		if len(below[i].Path) == 1 {
			away[strings.ToLower(below[i].Name)] = below[i].Away
		}
	}
	behind, present := d.Table.Waiting(), d.Present()
	var list []federation.Child
	for _, c := range d.Neighbours.Children() {
		seen, _ := d.Table.Look(c.Name, c.Name)
		came := present[identity.ChildPrefix+c.Name]
		child := federation.Child{
			Name: c.Name, Prefix: c.Prefix, Online: c.Online, Away: away[strings.ToLower(c.Name)], Waiting: seen.Waiting,
			Below: behind[strings.ToLower(c.Name)], Unheard: c.Online && seen.Heard.Before(came) && time.Since(came) < replica.Every,
		}
		if c.Prefix == "" {
			granted, _ := d.Neighbours.Child(c.Name)
			child.Record = granted.Grants.Record
		}
		list = append(list, child)
	}
	return list
}

// Watch lists the children as Neighbours does, and records those that are away.
func (d *Descendants) Watch() []replica.Child {
	list := d.Neighbours.Children()
	for _, c := range list {
		if !c.Online {
			seen, _ := d.Table.Look(c.Name, c.Name)
			if seen.Kept { // the time before this node ran says nothing about since when it is away
				seen.Heard = time.Time{}
			}
			d.Receiver.Gone(c.Name, seen.Heard)
		}
	}
	return list
}

// Outages returns the outages of a child, to report them to the parent.
func (d *Descendants) Outages(child string) []replica.Outage {
	known := d.Receiver.Outages(child)
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
