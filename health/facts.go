package health

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"voltbus/agent"
	"voltbus/api/answer"
	"voltbus/control/mismatch"
	"voltbus/device"
	"voltbus/internal/plural"
	"voltbus/presence"
	"voltbus/uplink/enrol"
	"voltbus/uplink/sender"
	"voltbus/verdict"
)

// factsTime bounds how long health waits for the log and the store.
const factsTime = 2 * time.Second

// linkTime is how long the connection to the parent may be down before health reports it.
const linkTime = time.Minute

// Verdict returns how this node is, as judged by package verdict.
func (h *Health) Verdict(ctx context.Context) verdict.Verdict { return verdict.Conclude(h.facts(ctx)) }

// facts collects the facts for the verdict.
func (h *Health) facts(ctx context.Context) *verdict.Facts {
	ctx, cancel := context.WithTimeout(ctx, factsTime)
	defer cancel()
	f := &verdict.Facts{Now: h.parts.Now(), Paused: text(h.parts.Recorder.Lanes()[0].Paused), Audit: text(h.parts.Heads.Trouble())}
	if r := h.parts.Replicas(); r != nil {
		f.Replicas = *r
	}
	h.sinkFacts(ctx, f)
	h.historyFacts(ctx, f)
	f.Files = append(h.parts.Files(), h.parts.Metering()...)
	if err := h.parts.MQTT(); err != nil {
		f.Files = append(f.Files, verdict.File{Name: "mqtt.db", Sentence: "MQTT sessions and retained messages cannot be kept and are tried again: " + err.Error()})
	}
	metering := h.parts.Delivery()
	for _, about := range slices.Sorted(maps.Keys(metering)) {
		f.Metering = append(f.Metering, verdict.Metering{About: about, Sentence: metering[about]})
	}
	h.controlFacts(f)
	for _, d := range h.parts.Fleet.Devices() {
		f.Devices = append(f.Devices, deviceFact(&d))
	}
	f.Agents = h.Agents()
	h.alarmFacts(f)
	f.Trial = h.trialFact()
	return f
}

// alarmFacts reports alarms and alerts. An alert whose alarm is shelved, suppressed or out of service is told of by its alarm only.
func (h *Health) alarmFacts(f *verdict.Facts) {
	kept := map[[2]string]bool{}
	if h.parts.Alarms != nil {
		a := h.parts.Alarms()
		f.Unjudged, f.Alarms, f.Unheard, f.Doubts = a.Unkept, a.Alarms, a.Unheard, a.Doubts
	}
	for i := range f.Alarms {
		if a := &f.Alarms[i]; a.Kept {
			kept[[2]string{a.Agent, a.Key}] = true
		}
	}
	for _, a := range h.parts.Presence.List() {
		if a.Agent == OwnAlerts && a.Key == mismatch.Key || kept[[2]string{a.Agent, a.Key}] { // control reports its own
			continue
		}
		f.Alerts = append(f.Alerts, verdict.Alert{
			Agent: a.Agent, Key: a.Key, Text: a.Text, Severity: string(a.Severity), Count: a.Count, Since: a.First,
		})
	}
	list, nodes := h.parts.AlarmsBelow()
	open := map[string]int{}
	f.AlarmsBelow = map[string]int{}
	for i := range nodes {
		open[nodes[i].Node] = nodes[i].Open
		f.AlarmsBelow[""] += nodes[i].Open
	}
	for i := range list {
		if list[i].Told() {
			f.AlarmsBelow[list[i].Priority]++
			f.AlarmsBelow[""]--
		}
	}
	f.Children = h.parts.Children()
	for i := range f.Children {
		if n, known := open[f.Children[i].Name]; known {
			f.Children[i].Alarms = n
		}
	}
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
		Path: string(d.Path), Line: d.Line, Disabled: d.Status == device.Disabled, Starting: d.Status == device.Starting || d.Status == device.Elsewhere,
		Silent: silent, Hung: d.Status == device.Hung, Error: d.LastError, Problem: d.Problem, Refuses: d.Refuses, Since: d.Since,
	}
	switch {
	case silent && d.LastError != "":
		v.Kind = d.LastErrorKind.String()
	case !silent && d.Problem != "":
		v.Kind = d.ProblemKind.String()
	}
	return v
}

// sinkFacts reports how far the history and the parent are behind the log.
func (h *Health) sinkFacts(ctx context.Context, f *verdict.Facts) {
	if h.parts.Sink != nil {
		s := h.parts.Sink.Stats()
		fact := verdict.Sink{Part: verdict.Store, Reason: text(s.Err)}
		fact.Waiting, fact.Oldest = h.parts.Account.Backlog(ctx, s.Sequence)
		f.Sinks = append(f.Sinks, fact)
	}
	if fact, is := h.uplinkFact(f.Now); is {
		f.Sinks = append(f.Sinks, fact)
	}
}

// uplinkFact reports why the parent does not have the data recorded here; false without a parent. A connection lost
// a moment ago does not count yet.
func (h *Health) uplinkFact(at time.Time) (fact verdict.Sink, member bool) {
	m, member := h.parts.Parent.Current()
	if !member {
		return fact, false
	}
	up := h.parts.Sender.Status()
	fact = verdict.Sink{Part: verdict.Uplink, Since: up.Since}
	since := up.Since
	if since.Before(h.parts.Started) {
		since = h.parts.Started
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

// historyFacts reports damaged and lost parts of the history.
func (h *Health) historyFacts(ctx context.Context, f *verdict.Facts) {
	if d := h.parts.Damage(); d != nil {
		f.Damaged = append(f.Damaged, verdict.Damage{File: d.File, Reason: d.Reason, Noticed: d.Noticed})
	}
	books, err := h.parts.Account.Own(ctx)
	f.Books, f.History = h.booked(&books), text(err)
	for _, g := range books.Gaps {
		f.Losses = append(f.Losses, verdict.Loss{Origin: g.Origin, Reason: g.Reason, Samples: g.Samples, Noticed: g.Noticed})
	}
	if h.parts.History.Store() == nil {
		return
	}
	stats, err := h.parts.History.Store().Stats(ctx)
	if err != nil {
		f.History = text(err)
	}
	for _, d := range stats.Damaged {
		f.Damaged = append(f.Damaged, verdict.Damage{File: d.File, Reason: d.Reason, Noticed: d.Noticed})
	}
}

// controlFacts reports commands that are not carried out, and pending ones.
func (h *Health) controlFacts(f *verdict.Facts) {
	if h.parts.Control == nil {
		return
	}
	f.Control = text(h.parts.Control.Trouble())
	for _, a := range h.parts.Control.MismatchedPoints() {
		f.Points = append(f.Points, verdict.Point{Path: string(a.Point), Output: string(a.Output), Why: a.Why, Since: h.parts.Mismatch.Since(a.Point)})
	}
	for _, p := range h.parts.Control.Proposed() {
		f.Proposals = append(f.Proposals, verdict.Proposal{Point: string(p.Path), Requester: p.Requester, Since: p.From})
	}
}

// Agents reports which agents do not work, by name.
func (h *Health) Agents() []verdict.Agent {
	bad := map[string]verdict.Agent{}
	if h.parts.Supervisor != nil {
		for _, a := range h.parts.Supervisor.List() {
			if does, since := processFault(&a); does != "" {
				bad[a.Name] = verdict.Agent{Name: a.Name, Does: does, Since: since}
			}
		}
	}
	online := h.parts.Online()
	for _, a := range h.parts.Agents.List() {
		since, is := online[a.Name]
		if _, told := bad[a.Name]; told || !is || !a.Active() {
			continue
		}
		switch h := h.parts.Presence.Look(a.Name, since); h.Status {
		case presence.Bad:
			bad[a.Name] = verdict.Agent{Name: a.Name, Does: "says that it does not work" + reasonOf(h.Context), Since: h.At}
		case presence.Silent:
			bad[a.Name] = verdict.Agent{Name: a.Name, Does: "is connected, and has not said for three intervals that it works", Since: h.At}
		case presence.Good, presence.Starting, presence.Unknown, presence.Offline:
		}
	}
	return sortedAgents(bad)
}

// processFault returns what is wrong with an agent's process, and since when; "" for nothing.
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

// reasonOf returns the reason that an agent gives for its status, in any form.
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

// trialFact reports a configuration awaiting confirmation.
func (h *Health) trialFact() *verdict.Trial {
	if h.parts.Settings == nil {
		return nil
	}
	t, until, is := h.parts.Settings.OnTrial()
	if !is {
		return nil
	}
	return &verdict.Trial{User: t.User, Begun: t.Begun, Until: until}
}

// partTrouble is nil if a part has no concern.
func partTrouble(all []verdict.Concern, part verdict.Part) error {
	if list := verdict.Of(all, part); len(list) > 0 {
		return errors.New(verdict.Sentence(list))
	}
	return nil
}

// booked sums what was recorded.
func (h *Health) booked(books *answer.Ledger) (b verdict.Books) {
	for i := range books.Origins {
		o := &books.Origins[i]
		b.Stored, b.Missing, b.Refused = b.Stored+o.Stored, b.Missing+o.Missing, b.Refused+o.Refused
		b.Others = b.Others || !o.Own
		if !o.Balanced {
			b.Unbalanced = o.Origin
		}
	}
	if h.parts.History.Store() == nil || len(books.Origins) == 0 {
		b.Stored = 0
		for _, n := range h.parts.Account.Acknowledged() {
			b.Stored += n
		}
	}
	return b
}
