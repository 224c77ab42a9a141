package world

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/virtual/kernel"
	"voltbus/virtual/whole"
)

// Result is what a run was and did.
type Result struct {
	World     string             `json:"world"`
	Seeds     []kernel.Seed      `json:"seeds"`  // the first one from the start on
	Digest    string             `json:"digest"` // of all events and the history; equal for equal runs
	Start     time.Time          `json:"start"`
	Simulated time.Duration      `json:"simulated"` // since the start of the world
	Took      time.Duration      `json:"took"`      // in real time, with the start of processes
	Sites     int                `json:"sites"`
	Tally     kernel.Tally       `json:"tally"`
	Readings  uint64             `json:"readings"` // in the history
	Commands  uint64             `json:"commands"` // that models took
	Refused   uint64             `json:"refused"`  // commands whose value is no number
	Links     []kernel.LinkTally `json:"links"`
	Failures  []kernel.Failure   `json:"failures"` // sites, models and agents that ended before the run did
	Told      []Told             `json:"told"`     // calls that do not follow the clock
	Alerts    []Alert            `json:"alerts"`
	Held      []Held             `json:"held"`            // what agents commanded, and when it ended
	Whole     *whole.Report      `json:"whole,omitempty"` // what whole nodes have, after Settle
}

// Result returns what was done until now.
func (w *World) Result() *Result {
	failures := append(w.kernel.Failures(), w.failures...)
	slices.SortStableFunc(failures, func(a, b kernel.Failure) int { return cmp.Compare(a.At, b.At) })
	slices.SortFunc(w.told, func(a, b Told) int {
		return cmp.Or(strings.Compare(a.Site, b.Site), strings.Compare(a.Call, b.Call))
	})
	return &Result{
		World: w.file.World.Name, Seeds: w.kernel.Seeds(), Digest: w.kernel.Digest(), Start: w.file.World.Start,
		Simulated: w.kernel.Now(), Took: w.took, Sites: len(w.plants), Tally: w.kernel.Tally(), Readings: w.readings,
		Commands: w.commands, Refused: w.refused, Links: w.kernel.LinkTallies(), Failures: failures, Told: w.told, Alerts: w.alerts, Held: w.held, Whole: w.report,
	}
}

// Text writes the result for people.
func (r *Result) Text(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "world      %s, %d sites, from %s\n", r.World, r.Sites, r.Start.Format(time.RFC3339))
	fmt.Fprintf(&b, "simulated  %s in %s", r.Simulated, r.Took.Round(time.Millisecond))
	if r.Took > 0 {
		fmt.Fprintf(&b, ", %.0f times real time", r.Simulated.Seconds()/r.Took.Seconds())
	}
	fmt.Fprintf(&b, "\nevents     %d, %d readings, %d commands\n", r.Tally.Events, r.Readings, r.Commands)
	for i, s := range r.Seeds {
		if i == 0 {
			fmt.Fprintf(&b, "seed       %d\n", s.Seed)
		} else {
			fmt.Fprintf(&b, "seed       %d from %s on, changed in this branch\n", s.Seed, s.From)
		}
	}
	fmt.Fprintf(&b, "digest     %s\n", r.Digest)
	r.nodes(&b)
	r.problems(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// nodes tells what whole nodes have.
func (r *Result) nodes(b *strings.Builder) {
	if r.Whole == nil {
		return
	}
	for _, n := range r.Whole.Nodes {
		fmt.Fprintf(b, "node       %s: %d samples of its devices (%s)", n.Name, n.Samples, n.Content)
		if n.Parent != "" {
			fmt.Fprintf(b, ", %d of them at %s, %d missing", n.Above, n.Parent, n.Missing)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "memory     %d MB for %d whole nodes\n", r.Whole.Resident>>20, len(r.Whole.Nodes))
	if late := r.Whole.Settled - r.Simulated; late > 0 {
		fmt.Fprintf(b, "settled    %s after the end\n", late)
	}
	for _, e := range r.Whole.Events[:min(len(r.Whole.Events), mostLines)] {
		fmt.Fprintf(b, "event      %s: %s: %s %s %s: %s\n", e.At.Round(time.Millisecond), e.Node, e.Actor, e.Action, e.Subject, e.Outcome)
	}
	if n := len(r.Whole.Events) - mostLines; n > 0 {
		fmt.Fprintf(b, "event      %d more, see --json\n", n)
	}
}

// mostLines is how much of a list is shown.
const mostLines = 20

func (r *Result) problems(b *strings.Builder) {
	var sent, lost, cut uint64
	for _, l := range r.Links {
		sent, lost, cut = sent+l.Sent, lost+l.Lost, cut+l.Cut
	}
	if sent > 0 {
		fmt.Fprintf(b, "links      %d messages, %d lost, %d not sent or lost in cuts\n", sent, lost, cut)
	}
	if r.Tally.Unrouted > 0 {
		fmt.Fprintf(b, "no link    %d messages between sites without a link\n", r.Tally.Unrouted)
	}
	if r.Refused > 0 {
		fmt.Fprintf(b, "refused    %d commands whose value is no number\n", r.Refused)
	}
	for _, a := range r.Alerts[:min(len(r.Alerts), mostLines)] {
		text := a.Text
		if a.Cleared {
			text = "cleared"
		}
		fmt.Fprintf(b, "alert      %s: %s %s: %s: %s\n", a.At, a.Site, a.Agent, a.Key, text)
	}
	for _, f := range r.Failures[:min(len(r.Failures), mostLines)] {
		fmt.Fprintf(b, "FAILED     %s: %s: %s\n", f.At, f.Actor, f.Reason)
	}
	if n := len(r.Failures) - mostLines; n > 0 {
		fmt.Fprintf(b, "FAILED     %d more\n", n)
	}
	for _, t := range r.Told {
		fmt.Fprintf(b, "REAL TIME  %s: %s: this call does not follow the clock of the world\n", t.Site, t.Call)
	}
}

// kept is a check-point of a world.
type kept struct {
	World    string           `json:"world"`
	Kernel   json.RawMessage  `json:"kernel"`
	Failures []kernel.Failure `json:"failures"`
	Readings uint64           `json:"readings"`
	Commands uint64           `json:"commands"`
	Refused  uint64           `json:"refused"`
}

// Save returns the run at this moment, for Load. It fails with fault.Unavailable if the world has agents.
func (w *World) Save() ([]byte, error) {
	k, err := w.kernel.Save()
	if err != nil {
		return nil, err
	}
	return json.Marshal(kept{w.file.World.Name, k, w.failures, w.readings, w.commands, w.refused})
}

// Load puts a world that was just made to where a run was saved. The file may have other parameters and links with other
// losses, and must have the same sites and models.
func (w *World) Load(data []byte) error {
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return fault.E("world.Load", fault.Corrupt, "checkpoint", err)
	}
	if k.World != w.file.World.Name {
		return fault.E("world.Load", fault.Invalid, "checkpoint", fmt.Errorf("it is of the world %q, and the file describes %q", k.World, w.file.World.Name))
	}
	if len(k.Kernel) == 0 {
		return fault.E("world.Load", fault.Corrupt, "checkpoint", errors.New("it has no run"))
	}
	w.failures, w.readings, w.commands, w.refused = k.Failures, k.Readings, k.Commands, k.Refused
	return w.kernel.Load(k.Kernel)
}
