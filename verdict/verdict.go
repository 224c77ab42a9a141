package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/internal/plural"
)

// Severity says how much a concern matters.
type Severity string

// The severities.
const (
	Warning  Severity = "warning"
	Critical Severity = "critical" // data or a device is out of reach, or an agent says that it is critical
)

// Part is the part of the node that a concern is about.
type Part string

// The parts, in the order in which they are shown.
const (
	Recorder      Part = "recorder"
	Cluster       Part = "replicas"
	Store         Part = "store"
	History       Part = "history"
	Audit         Part = "audit"
	State         Part = "state"    // small files of the data directory
	Meters        Part = "metering" // readings of meters on their way
	Control       Part = "control"
	Devices       Part = "devices"
	Registers     Part = "registers"
	Agents        Part = "agents"
	Alarms        Part = "alarms"
	Alerts        Part = "alerts"
	Approvals     Part = "approvals"
	Configuration Part = "configuration"
	Nodes         Part = "nodes"
	Destinations  Part = "destinations" // of readings, outside
	Uplink        Part = "uplink"
)

// Parts returns all parts, in the order in which they are shown.
func Parts() []Part {
	return []Part{
		Recorder, Cluster, Store, History, Audit, State, Meters, Control, Devices, Registers, Agents, Alarms, Alerts, Approvals, Configuration, Nodes, Destinations, Uplink,
	}
}

// Concern is something that is not well, and that somebody should know.
type Concern struct {
	Part     Part
	Severity Severity
	Subject  string    // what it is about: a path, a line, an agent, a node; "" for the node itself
	Sentence string    // for people; may hold text of devices and agents
	Kind     string    // a fault kind, of devices; "" if there is none
	Since    time.Time // zero: unknown
	Link     string    // the address of the page that shows it, from the root of the node's page
}

const (
	// mostNamed bounds the concerns of one part; one more stands for the rest.
	mostNamed = 20
	// lateAfter is how long a block may wait for a sink without a word.
	lateAfter = time.Minute
	// lossFor is how long a loss counts: nobody can mend it. The ledger shows it for good.
	lossFor = 24 * time.Hour
)

// Judge says what is not well: what is critical first, then in the order of the parts, of these the oldest first. A
// part has at most 21 concerns; the last of so many stands for the rest.
func Judge(f *Facts) []Concern {
	var all []Concern
	for _, of := range []func(*Facts) []Concern{
		recording, replicas, sinks, history, logs, files, metering, control, silent, unreadable, agents, alarms, alerts, approvals, trial, children,
	} {
		all = append(all, of(f)...)
	}
	order := Parts()
	slices.SortStableFunc(all, func(a, b Concern) int {
		return cmp.Or(cmp.Compare(a.Severity.rank(), b.Severity.rank()),
			cmp.Compare(slices.Index(order, a.Part), slices.Index(order, b.Part)),
			a.Since.Compare(b.Since), cmp.Compare(a.Subject, b.Subject))
	})
	return bounded(all)
}

func (s Severity) rank() int {
	if s == Critical {
		return 0
	}
	return 1
}

// bounded leaves out what is more of one part than somebody reads, and says how many there are.
func bounded(all []Concern) []Concern {
	out, seen, last := make([]Concern, 0, len(all)), map[Part]int{}, map[Part]int{}
	for i := range all {
		c := all[i]
		seen[c.Part]++
		if seen[c.Part] <= mostNamed {
			out = append(out, c)
			continue
		}
		if seen[c.Part] == mostNamed+1 {
			last[c.Part] = len(out)
			out = append(out, Concern{Part: c.Part, Severity: c.Severity, Link: pageOf(c.Part)})
		}
	}
	for part, at := range last {
		more := seen[part] - mostNamed
		out[at].Sentence = fmt.Sprintf("%s about %s", plural.Of(more, "more concern"), part)
	}
	return out
}

// Of returns the concerns about a part.
func Of(all []Concern, part Part) []Concern {
	var out []Concern
	for i := range all {
		if all[i].Part == part {
			out = append(out, all[i])
		}
	}
	return out
}

// Sentence says in one sentence what is not well; "" if all is.
func Sentence(list []Concern) string {
	const most = 3
	texts := make([]string, 0, most+1)
	for i := range list {
		if i == most {
			texts = append(texts, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		texts = append(texts, list[i].Sentence)
	}
	return strings.Join(texts, "; ")
}
