package verdict

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"voltbus/internal/plural"
)

// pageOf returns the page that shows a part.
func pageOf(p Part) string {
	switch p {
	case Cluster:
		return "/cluster"
	case Audit, State:
		return "/audit"
	case Control:
		return "/control"
	case Devices, Registers:
		return "/site"
	case Agents:
		return "/agents"
	case Alarms:
		return "/alarms"
	case Alerts:
		return "/alerts"
	case Approvals, Nodes, Uplink:
		return "/nodes"
	case Configuration:
		return "/settings"
	case Destinations:
		return "/destinations"
	case Recorder, Store, History, Meters:
	}
	return "/ledger"
}

// page returns the address of a page about one thing, whose name may be a path.
func page(kind, name string) string {
	segments := strings.Split(name, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return "/" + kind + "/" + strings.Join(segments, "/")
}

func recording(f *Facts) []Concern {
	if f.Paused == "" {
		return nil
	}
	return []Concern{{Part: Recorder, Severity: Critical, Sentence: "nothing is recorded: " + f.Paused, Link: pageOf(Recorder)}}
}

// replicas says why a replica is not safe, or does not record.
func replicas(f *Facts) []Concern {
	r := &f.Replicas
	if r.Sentence == "" {
		return nil
	}
	c := Concern{Part: Cluster, Severity: Warning, Sentence: r.Sentence, Since: r.Since, Link: pageOf(Cluster)}
	if r.Critical {
		c.Severity = Critical
	}
	return []Concern{c}
}

// sinks says what does not take the blocks of the log.
func sinks(f *Facts) []Concern {
	what := map[Part]string{Store: "the history", Uplink: "the parent node"}
	var out []Concern
	for _, s := range f.Sinks {
		late := !s.Oldest.IsZero() && f.Now.Sub(s.Oldest) > lateAfter
		c := Concern{Part: s.Part, Severity: Warning, Since: s.Since, Link: pageOf(s.Part)}
		switch {
		case s.Reason != "":
			c.Sentence = fmt.Sprintf("%s does not take what is recorded: %s", what[s.Part], s.Reason)
		case late:
			c.Since = s.Oldest
			c.Sentence = fmt.Sprintf("%s is behind: %s for it in the log, the oldest since %s", what[s.Part],
				plural.Of(s.Waiting, "block")+plural.Word(s.Waiting, " waits", " wait"), moment(s.Oldest))
		default:
			continue
		}
		out = append(out, c)
	}
	return out
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// history says what of the history is gone.
func history(f *Facts) []Concern {
	var out []Concern
	if f.History != "" {
		out = append(out, Concern{Part: History, Severity: Warning, Sentence: f.History, Link: pageOf(History)})
	}
	for _, d := range f.Damaged {
		out = append(out, Concern{
			Part: History, Severity: Warning, Subject: d.File, Since: d.Noticed, Link: pageOf(History),
			Sentence: fmt.Sprintf("%s is damaged and set aside: %s", d.File, d.Reason),
		})
	}
	for _, l := range f.Losses {
		if f.Now.Sub(l.Noticed) < lossFor {
			out = append(out, Concern{
				Part: History, Severity: Warning, Subject: l.Origin, Since: l.Noticed, Link: pageOf(History),
				Sentence: fmt.Sprintf("%s of %s %s lost: %s", plural.Of(l.Samples, "sample"), l.Origin, plural.Word(l.Samples, "is", "are"), l.Reason),
			})
		}
	}
	if origin := f.Books.Unbalanced; origin != "" {
		out = append(out, Concern{
			Part: History, Severity: Warning, Subject: origin, Link: pageOf(History),
			Sentence: fmt.Sprintf("the figures of what %s produced and what is stored of it do not add up; see the ledger", origin),
		})
	}
	return out
}

func logs(f *Facts) []Concern {
	if f.Audit == "" {
		return nil
	}
	return []Concern{{Part: Audit, Severity: Warning, Sentence: f.Audit, Link: pageOf(Audit)}}
}

// files says which small files of the data directory are damaged.
func files(f *Facts) []Concern {
	var out []Concern
	for _, d := range f.Files {
		part := cmp.Or(d.Part, State)
		out = append(out, Concern{Part: part, Severity: Warning, Subject: d.Name, Sentence: d.Sentence, Link: cmp.Or(d.Link, pageOf(part))})
	}
	return out
}

// metering says what is wrong with readings of meters on their way.
func metering(f *Facts) []Concern {
	var out []Concern
	for _, m := range f.Metering {
		out = append(out, Concern{Part: Meters, Severity: Warning, Subject: m.About, Sentence: m.About + ": " + m.Sentence, Link: pageOf(Meters)})
	}
	return out
}

// outputOf says what the state of an output means for who commanded the point, or why it is so.
func outputOf(p *Point) string {
	if p.Why != "" {
		return strings.TrimPrefix(p.Why, p.Path+": ")
	}
	switch p.Output {
	case "mismatch":
		return "the device reports another value"
	case "differs":
		return "the device took it and reports another value"
	case "failed":
		return "the last command was not carried out"
	case "unknown":
		return "it is not known whether the device took the last command"
	}
	return p.Output
}

func control(f *Facts) []Concern {
	var out []Concern
	if f.Control != "" {
		out = append(out, Concern{Part: Control, Severity: Critical, Sentence: f.Control, Link: pageOf(Control)})
	}
	for _, p := range f.Points {
		out = append(out, Concern{
			Part: Control, Severity: Warning, Subject: p.Path, Since: p.Since, Link: page("point", p.Path),
			Sentence: fmt.Sprintf("%s does not have what it was set to (%s): %s", p.Path, p.Output, outputOf(&p)),
		})
	}
	return out
}

// silent says which devices do not answer. A line on which all are silent is one concern.
func silent(f *Facts) []Concern {
	lines := map[string][]*Device{}
	var order []string
	for i := range f.Devices {
		d := &f.Devices[i]
		if lines[d.Line] == nil {
			order = append(order, d.Line)
		}
		lines[d.Line] = append(lines[d.Line], d)
	}
	var out []Concern
	for _, line := range order {
		mates := lines[line]
		quiet := slices.DeleteFunc(slices.Clone(mates), func(d *Device) bool { return !d.Silent })
		if len(quiet) == len(mates) && len(quiet) > 1 {
			first := slices.MinFunc(quiet, func(a, b *Device) int { return a.Since.Compare(b.Since) })
			c := silence(first)
			c.Subject = line
			c.Sentence = fmt.Sprintf("all %d devices of line %s do not answer%s", len(quiet), line, because(first))
			out = append(out, c)
			continue
		}
		for _, d := range quiet {
			out = append(out, silence(d))
		}
	}
	return out
}

func silence(d *Device) Concern {
	return Concern{
		Part: Devices, Severity: Critical, Subject: d.Path, Kind: d.Kind, Since: d.Since, Link: page("device", d.Path),
		Sentence: d.Path + " does not answer" + because(d),
	}
}

func because(d *Device) string {
	switch {
	case d.Hung:
		return ": the driver of its line does not return; start the node again if that lasts"
	case d.Error == "":
		return ""
	}
	return ": " + d.Error
}

// unreadable says which devices answer, but not for all of their points, or for none.
func unreadable(f *Facts) []Concern {
	var out []Concern
	for i := range f.Devices {
		d := &f.Devices[i]
		if d.Problem == "" || d.Silent {
			continue
		}
		c := Concern{
			Part: Registers, Severity: Warning, Subject: d.Path, Kind: d.Kind, Since: d.Since, Link: page("device", d.Path),
			Sentence: fmt.Sprintf("%s answers only in part: %s", d.Path, d.Problem),
		}
		if d.Refuses {
			c.Severity, c.Sentence = Critical, fmt.Sprintf("%s answers, but none of its points can be read: %s", d.Path, d.Problem)
		}
		out = append(out, c)
	}
	return out
}

func agents(f *Facts) []Concern {
	out := make([]Concern, 0, len(f.Agents))
	for _, a := range f.Agents {
		out = append(out, Concern{
			Part: Agents, Severity: Warning, Subject: a.Name, Since: a.Since, Link: page("agents", a.Name),
			Sentence: a.Name + " " + a.Does,
		})
	}
	return out
}

// alarms says which alarms are open. Alerts that last are told of by others.
func alarms(f *Facts) []Concern {
	var out []Concern
	if f.Unjudged != "" {
		out = append(out, Concern{Part: Alarms, Severity: Critical, Sentence: "alarms are not kept: " + f.Unjudged, Link: pageOf(Alarms)})
	}
	for _, text := range f.Unheard {
		out = append(out, Concern{Part: Alarms, Severity: Critical, Sentence: text, Link: pageOf(Alarms)})
	}
	for _, d := range f.Doubts {
		c := Concern{
			Part: Alarms, Severity: Warning, Subject: d.Rule, Link: pageOf(Alarms), Sentence: fmt.Sprintf("the alarm rule %s cannot be judged: %s", d.Rule, d.Why),
		}
		if d.More > 0 {
			c.Sentence = fmt.Sprintf("the alarm rule %s cannot be judged: %s, and %s", d.Rule, d.Why, plural.Of(d.More, "more reason"))
		}
		out = append(out, c)
	}
	for i := range f.Alarms {
		a := &f.Alarms[i]
		if a.Kept || a.Agent != "" && !a.Over {
			continue
		}
		c := Concern{Part: Alarms, Severity: Warning, Subject: a.ID, Since: a.Since, Link: pageOf(Alarms), Sentence: fmt.Sprintf("%s alarm: %s", a.Priority, a.Text)}
		switch {
		case a.Over:
			c.Sentence = fmt.Sprintf("%s alarm is over and waits for somebody: %s", a.Priority, a.Text)
		case a.Priority != "medium" && a.Priority != "low":
			c.Severity = Critical
		}
		if a.Point != "" {
			c.Link = page("point", a.Point)
		}
		out = append(out, c)
	}
	return out
}

// alerts says which alerts are open.
func alerts(f *Facts) []Concern {
	out := make([]Concern, 0, len(f.Alerts))
	for i := range f.Alerts {
		a := &f.Alerts[i]
		severity := Warning
		if a.Severity == string(Critical) {
			severity = Critical
		}
		out = append(out, Concern{
			Part: Alerts, Severity: severity, Subject: a.Agent + ": " + a.Key, Since: a.Since, Link: pageOf(Alerts),
			Sentence: fmt.Sprintf("%s of %s: %s", a.Severity, a.Agent, a.Text),
		})
	}
	return out
}

// approvals says which nodes and commands wait for somebody.
func approvals(f *Facts) []Concern {
	var out []Concern
	for _, c := range f.Children {
		if c.Pending {
			out = append(out, Concern{
				Part: Approvals, Severity: Warning, Subject: c.Name, Since: c.Since, Link: page("node", c.Name),
				Sentence: fmt.Sprintf("the node %s waits for approval; see voltbus children", c.Name),
			})
		}
	}
	for _, p := range f.Proposals {
		out = append(out, Concern{
			Part: Approvals, Severity: Warning, Subject: p.Point, Since: p.Since, Link: pageOf(Control),
			Sentence: fmt.Sprintf("a command of %s to %s waits for the approval of a second person; see voltbus approve", p.Requester, p.Point),
		})
	}
	return out
}

func trial(f *Facts) []Concern {
	t := f.Trial
	if t == nil {
		return nil
	}
	return []Concern{{
		Part: Configuration, Severity: Warning, Subject: t.User, Since: t.Begun, Link: pageOf(Configuration),
		Sentence: fmt.Sprintf("a configuration of %s is on trial until %s; the one before comes back unless it is confirmed", t.User, moment(t.Until)),
	}}
}

// children says which descendants are away, cannot give what they have, or are not well themselves.
func children(f *Facts) []Concern {
	var out []Concern
	for _, c := range f.Children {
		what := ""
		switch {
		case c.Pending:
		case c.Refused != "":
			what = "is connected, and its data is not taken: " + c.Refused
		case c.Away:
			what = "is away; what it records waits on its disk"
		case c.late(f.Now):
			what = "is behind: data that it recorded since " + moment(c.Waits) + " waits there"
		case c.Crowded != "":
			what = c.Crowded
		default:
			what = unwell(&c)
		}
		if what != "" {
			out = append(out, Concern{
				Part: Nodes, Severity: Warning, Subject: c.Name, Since: c.Since, Link: page("node", c.Name),
				Sentence: fmt.Sprintf("the node %s %s", c.Name, what),
			})
		}
	}
	return out
}

// late reports whether a descendant that is connected has not sent what it recorded a while ago.
func (c *Child) late(now time.Time) bool {
	return !c.Pending && !c.Away && !c.Waits.IsZero() && now.Sub(c.Waits) > lateAfter
}

// unwell says what a descendant says of itself; "" if it is well.
func unwell(c *Child) string {
	var parts []string
	if c.Devices > 0 {
		parts = append(parts, plural.Of(c.Devices, "device")+plural.Word(c.Devices, " gives", " give")+" no value")
	}
	if c.Agents > 0 {
		parts = append(parts, plural.Of(c.Agents, "agent")+plural.Word(c.Agents, " does", " do")+" not work")
	}
	if c.Alarms > 0 {
		parts = append(parts, plural.Of(c.Alarms, "alarm")+plural.Word(c.Alarms, " is", " are")+" open")
	}
	if !c.Unwell && len(parts) == 0 {
		return ""
	}
	if len(parts) == 0 {
		parts = append(parts, "its own health says why")
	}
	return "is not well: " + strings.Join(parts, ", ")
}
