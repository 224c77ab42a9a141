package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"voltbus/agent"
	"voltbus/control"
	"voltbus/device"
	"voltbus/history/ledger"
	"voltbus/identity"
	"voltbus/internal/plural"
	"voltbus/point"
	"voltbus/presence"
	"voltbus/uplink/enrol"
	"voltbus/uplink/sender"
	"voltbus/verdict"
)

// factsTime bounds how long log and store are asked for what health tells.
const factsTime = 2 * time.Second

// linkTime is how long the connection to the parent may be down before somebody should know.
const linkTime = time.Minute

// Concerns says what is not well at this node, by package verdict.
func (n *Node) Concerns(ctx context.Context) []verdict.Concern { return verdict.Judge(n.facts(ctx)) }

// facts gathers what is judged.
func (n *Node) facts(ctx context.Context) *verdict.Facts {
	ctx, cancel := context.WithTimeout(ctx, factsTime)
	defer cancel()
	f := &verdict.Facts{Now: now(), Paused: text(n.recorder.Lanes()[0].Paused), Audit: text(n.heads.Trouble())}
	n.sinkFacts(ctx, f)
	n.historyFacts(ctx, f)
	f.Files = n.fileFacts()
	if n.mqtt != nil && n.mqtt.Trouble() != nil {
		f.Files = append(f.Files, verdict.File{Name: "mqtt.db", Sentence: "MQTT sessions and retained messages cannot be kept and are tried again: " + n.mqtt.Trouble().Error()})
	}
	n.controlFacts(f)
	for _, d := range n.fleet.Devices() {
		f.Devices = append(f.Devices, deviceFact(&d))
	}
	f.Agents = n.agentFacts()
	for _, a := range n.presence.List() {
		if a.Agent != ownAlerts { // its parts tell of the node's own
			f.Alerts = append(f.Alerts, verdict.Alert{
				Agent: a.Agent, Key: a.Key, Text: a.Text, Severity: string(a.Severity), Count: a.Count, Since: a.First,
			})
		}
	}
	f.Children = n.childFacts()
	f.Trial = n.trialFact()
	return f
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func deviceFact(d *device.State) verdict.Device {
	silent := d.Status == device.Offline || d.Status == device.Hung
	v := verdict.Device{
		Path: string(d.Path), Line: d.Line, Silent: silent, Hung: d.Status == device.Hung, Error: d.LastError, Problem: d.Problem, Refuses: d.Refuses, Since: d.Since,
	}
	switch {
	case silent && d.LastError != "":
		v.Kind = d.LastErrorKind.String()
	case !silent && d.Problem != "":
		v.Kind = d.ProblemKind.String()
	}
	return v
}

// sinkFacts says how far the history and the parent are behind the log.
func (n *Node) sinkFacts(ctx context.Context, f *verdict.Facts) {
	if n.sink != nil {
		s := n.sink.Stats()
		fact := verdict.Sink{Part: verdict.Store, Reason: text(s.Err)}
		fact.Waiting, fact.Oldest = n.account.Backlog(ctx, s.Sequence)
		f.Sinks = append(f.Sinks, fact)
	}
	if fact, is := n.uplinkFact(f.Now); is {
		f.Sinks = append(f.Sinks, fact)
	}
}

// uplinkFact says why the parent does not have what is recorded here; false without a parent. A connection that was
// lost a moment ago is no matter yet.
func (n *Node) uplinkFact(at time.Time) (fact verdict.Sink, member bool) {
	m, member := n.parent.Current()
	if !member {
		return fact, false
	}
	up := n.sender.Status()
	fact = verdict.Sink{Part: verdict.Uplink, Since: up.Since}
	since := up.Since
	if since.Before(n.started) {
		since = n.started
	}
	switch {
	case m.State != enrol.Approved:
		fact.Reason = cmp.Or(m.Why, "this node is "+string(m.State)+" there")
	case up.State == sender.Refused:
		fact.Reason = cmp.Or(text(up.Err), "this node is refused there")
	case up.State != sender.Connected && at.Sub(since) > linkTime:
		fact.Reason = cmp.Or(text(up.Err), "there is no connection to it")
	case up.State == sender.Connected:
		for i := range up.Origins {
			fact.Reason = cmp.Or(fact.Reason, text(up.Origins[i].Err))
		}
	}
	return fact, true
}

// historyFacts says what of the history is damaged or lost.
func (n *Node) historyFacts(ctx context.Context, f *verdict.Facts) {
	if d := n.catalog.Damage(); d != nil {
		f.Damaged = append(f.Damaged, verdict.Damage{File: d.File, Reason: d.Reason, Noticed: d.Noticed})
	}
	if n.history.Store() == nil {
		return
	}
	stats, err := n.history.Store().Stats(ctx)
	if err != nil {
		f.History = text(err)
		return
	}
	for _, d := range stats.Damaged {
		f.Damaged = append(f.Damaged, verdict.Damage{File: d.File, Reason: d.Reason, Noticed: d.Noticed})
	}
	gaps, err := n.history.Store().Gaps(ctx, ledger.MaxGaps)
	if err != nil {
		f.History = text(err)
	}
	for _, g := range gaps {
		f.Losses = append(f.Losses, verdict.Loss{Origin: g.Origin, Reason: g.Reason, Samples: g.Samples, Noticed: g.Noticed})
	}
}

// controlFacts says which commands are not carried out, and which wait.
func (n *Node) controlFacts(f *verdict.Facts) {
	if n.desk == nil {
		return
	}
	f.Control = text(n.desk.Trouble())
	for _, a := range n.desk.Amiss() {
		f.Points = append(f.Points, verdict.Point{Path: string(a.Point), Output: string(a.Output), Why: a.Why, Since: n.amiss.since(a.Point)})
	}
	for _, p := range n.desk.Proposed() {
		f.Proposals = append(f.Proposals, verdict.Proposal{Point: string(p.Path), Requester: p.Requester, Since: p.From})
	}
}

// agentFacts says which agents do not work, by name.
func (n *Node) agentFacts() []verdict.Agent {
	bad := map[string]verdict.Agent{}
	if n.supervisor != nil {
		for _, a := range n.supervisor.List() {
			if does, since := processFault(&a); does != "" {
				bad[a.Name] = verdict.Agent{Name: a.Name, Does: does, Since: since}
			}
		}
	}
	online := n.bus.Present()
	for _, a := range n.agents.List() {
		since, is := online[a.Name]
		if _, told := bad[a.Name]; told || !is || !a.Active() {
			continue
		}
		switch h := n.presence.Look(a.Name, since); h.Status {
		case presence.Bad:
			bad[a.Name] = verdict.Agent{Name: a.Name, Does: "says that it does not work" + reasonOf(h.Context), Since: h.At}
		case presence.Silent:
			bad[a.Name] = verdict.Agent{Name: a.Name, Does: "is connected, and has not said for three intervals that it works", Since: h.At}
		case presence.Good, presence.Starting, presence.Unknown, presence.Offline:
		}
	}
	return sortedAgents(bad)
}

// processFault says what is wrong with the process of an agent, and since when; "" for nothing.
func processFault(a *agent.Status) (does string, since time.Time) {
	raised := &a.Raised
	switch {
	case a.State == agent.BackingOff && a.Text != "":
		return "does not run: " + a.Text, a.Since
	case a.State == agent.BackingOff || a.State == agent.Failed:
		return fmt.Sprintf("does not run: it ended %d times in a row", a.Failures), a.Since
	case a.State == agent.Running && raised.Count > 0:
		return fmt.Sprintf("raised %s since %s, last %s", plural.Of(raised.Count, "exception"), raised.First.Format(time.DateTime+" UTC"), raised.Text), raised.First
	}
	return "", since
}

// reasonOf is why an agent says that it is as it is, in any form.
func reasonOf(context json.RawMessage) string {
	if len(context) == 0 {
		return ""
	}
	var words string
	if json.Unmarshal(context, &words) != nil {
		words = string(context)
	}
	return ": " + words
}

func sortedAgents(bad map[string]verdict.Agent) []verdict.Agent {
	return slices.SortedFunc(maps.Values(bad), func(a, b verdict.Agent) int { return cmp.Compare(a.Name, b.Name) })
}

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
	for _, b := range slices.Backward(n.tree.Below()) {
		c := verdict.Child{Name: b.Name, Away: !b.Away.IsZero(), Since: b.Away}
		if len(b.Path) == 1 {
			c.Crowded = n.crowded.said(b.Name)
		}
		if r, has := received[b.Name]; has && len(b.Path) == 1 && r.Refusal != nil && !c.Away {
			c.Refused = r.Refusal.Error()
		}
		if told, is := n.book.Look(b.Path[0], b.Name); is {
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

// trialFact says which configuration waits to be confirmed.
func (n *Node) trialFact() *verdict.Trial {
	if n.settings == nil {
		return nil
	}
	t, until, is := n.settings.OnTrial()
	if !is {
		return nil
	}
	return &verdict.Trial{User: t.User, Begun: t.Begun, Until: until}
}

// drifted knows since when points do not have what they were set to.
type drifted struct {
	mu   sync.Mutex
	from map[point.Path]time.Time
}

// take notes which points do not have what they were set to.
func (d *drifted) take(list []control.Amiss, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := make(map[point.Path]time.Time, len(list))
	for _, a := range list {
		next[a.Point] = at
		if before, was := d.from[a.Point]; was {
			next[a.Point] = before
		}
	}
	d.from = next
}

// since returns the zero time for a point of which it is not known.
func (d *drifted) since(path point.Path) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.from[path]
}

// partTrouble is nil where a part has no concern.
func partTrouble(all []verdict.Concern, part verdict.Part) error {
	if list := verdict.Of(all, part); len(list) > 0 {
		return errors.New(verdict.Sentence(list))
	}
	return nil
}

// counted says how many devices answer and how much is recorded, here and at the nodes below.
func (n *Node) counted() string {
	var c verdict.Count
	for _, d := range n.fleet.Devices() {
		c.Devices++
		if d.Status != device.Offline && d.Status != device.Hung {
			c.Well++
		}
	}
	for _, s := range n.recorder.Lanes() {
		c.Recorded += s.Acknowledged
	}
	for _, b := range n.tree.Below() {
		told, _ := n.book.Look(b.Path[0], b.Name)
		c.Nodes, c.DevicesBelow = c.Nodes+1, c.DevicesBelow+told.Devices
		if b.Away.IsZero() {
			c.Connected, c.WellBelow = c.Connected+1, c.WellBelow+told.Devices-told.DevicesFailing
		}
	}
	return c.Sentence()
}
