// Package timeline declares and carries out the operation that tells what happened.
package timeline

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/audit"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/query"
	"voltbus/timeline"
)

// Log holds the audit entries, as audit.Log does.
type Log interface {
	List(ctx context.Context, f audit.Filter) (entries []audit.Entry, next uint64, err error)
}

// Page selects events.
type Page struct {
	From  operation.Time `json:"from" api:"query,max=64" doc:"A day before to if left out"`
	To    operation.Time `json:"to" api:"query,max=64" doc:"Time behind the last; now if left out. For the next page: the next of the page before"`
	Kind  string         `json:"kind" api:"query,one-of=alarm|command|outage|restart|change|agent|access" doc:"All if left out"`
	Text  string         `json:"text" api:"query,max=256" doc:"Anywhere in the sentence, without regard to case"`
	Limit int            `json:"limit" api:"query,min=1,max=1000,default=200" doc:"So many at most"`
	Nodes bool           `json:"nodes" api:"query" doc:"Those of all descendants that are connected, too"`
}

// Timeline is what happened.
type Timeline struct {
	Events  []Event   `json:"events" doc:"The newest first"`
	Next    string    `json:"next" doc:"The to of the next page; empty if this is the last"`
	Missing []Missing `json:"missing" doc:"Nodes that could not be asked"`
}

// Event is something that happened.
type Event struct {
	_ struct{} `api:"schema=TimelineEvent"`

	Number  int       `json:"number" api:"min=0" doc:"Of its entry in the audit log of its node"`
	Node    string    `json:"node" doc:"Empty for this node"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind" api:"one-of=alarm|command|outage|restart|change|agent|access"`
	Level   string    `json:"level" api:"one-of=good|info|warn|bad"`
	Who     string    `json:"who" doc:"Such as person:ada; node for what the node did by itself"`
	Subject string    `json:"subject" doc:"A point, a device, a node or a name"`
	Point   bool      `json:"point" doc:"The subject is a point"`
	Text    string    `json:"text" doc:"A sentence"`
}

// Missing is a node that could not be asked.
type Missing struct {
	_ struct{} `api:"schema=TimelineMissing"`

	Node    string `json:"node"`
	Message string `json:"message"`
}

// List is the operation.
var List = operation.Declare[Page, Timeline](operation.Spec{
	Name: "timeline.list", ID: "listTimeline", HTTP: "GET /timeline", Role: identity.Operator, Remote: true,
	Summary: "Tell in sentences what happened: alarms, commands, outages, restarts, changes", Result: "The newest first, in pages",
	Doc: "It is made of the audit log, so it survives restarts. Refusals and changes of accounts are told to engineers only.",
})

// Part carries out the operation.
type Part struct {
	Log   Log // nil if there is none
	Now   func() time.Time
	Table func() *operation.Table
	Below func() []string // the connected descendants
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{operation.Bind(List, nil, p.list)}
	if p.Log == nil {
		return operation.Absent(list)
	}
	return list
}

const (
	usual = 24 * time.Hour
	// chunk is how many entries are read at a time, and most how many for one page: much of the log tells operators nothing.
	chunk = 1000
	most  = 50_000
	// patience is how long other nodes may take.
	patience = 5 * time.Second
)

func (p *Part) list(ctx context.Context, c *operation.Call, in *Page) (Timeline, error) {
	to, err := p.instant("to", in.To, p.Now())
	if err != nil {
		return Timeline{}, err
	}
	from, err := p.instant("from", in.From, to.Add(-usual))
	if err != nil {
		return Timeline{}, err
	}
	out := Timeline{Events: []Event{}, Missing: []Missing{}}
	cut, err := p.own(ctx, c, in, audit.Filter{From: from, To: to, Limit: chunk}, &out)
	if err != nil {
		return out, err
	}
	if in.Nodes && p.Below != nil {
		cut = later(cut, p.below(ctx, c, in, &out))
	}
	slices.SortStableFunc(out.Events, func(a, b Event) int { return b.Time.Compare(a.Time) })
	if len(out.Events) > in.Limit {
		cut = later(cut, out.Events[in.Limit-1].Time) // with all of the same time
	}
	if !cut.IsZero() { // what is older than where somebody's page ended comes with the next page
		out.Events = slices.DeleteFunc(out.Events, func(e Event) bool { return e.Time.Before(cut) })
		out.Next = cut.UTC().Format(time.RFC3339Nano)
	}
	return out, nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (p *Part) instant(name string, text operation.Time, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	t, err := query.ParseTime(string(text), p.Now())
	if err != nil {
		return t, fault.E("timeline.list", fault.Invalid, name, err)
	}
	return t, nil
}

// own adds the events of this node, and returns the time down to which it looked; zero for all of them.
func (p *Part) own(ctx context.Context, c *operation.Call, in *Page, f audit.Filter, out *Timeline) (cut time.Time, err error) {
	looks := strings.ToLower(in.Text)
	for read := 0; read < most; read += chunk {
		entries, next, err := p.Log.List(ctx, f)
		if err != nil {
			return cut, err
		}
		for i := range entries {
			cut = entries[i].Time
			e, tells := timeline.Of(&entries[i])
			if !tells || in.Kind != "" && in.Kind != string(e.Kind) || e.Kind == timeline.Access && !c.Role.Includes(identity.Engineer) ||
				!strings.Contains(strings.ToLower(e.Text), looks) {
				continue
			}
			out.Events = append(out.Events, Event{
				Number: int(e.Number), Time: e.Time.UTC(), Kind: string(e.Kind), Level: string(e.Level), Who: e.Who, Subject: e.Subject, Point: e.Point, Text: e.Text, //nolint:gosec // entries are fewer
			})
			if n := len(out.Events); n > in.Limit && out.Events[n-1].Time.Before(out.Events[in.Limit-1].Time) {
				return cut, nil
			}
		}
		if f.Before = next; next == 0 {
			return time.Time{}, nil
		}
	}
	return cut, nil
}

// below adds the events of the descendants, and returns the latest time down to which one of them looked; zero for all.
func (p *Part) below(ctx context.Context, c *operation.Call, in *Page, out *Timeline) (cut time.Time) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	nodes := p.Below()
	answers, errs := make([]Timeline, len(nodes)), make([]error, len(nodes))
	var asking sync.WaitGroup
	for i := range nodes {
		asking.Go(func() { answers[i], errs[i] = p.ask(ctx, c, nodes[i], in) })
	}
	asking.Wait()
	for i, node := range nodes {
		if errs[i] != nil {
			out.Missing = append(out.Missing, Missing{Node: node, Message: errs[i].Error()})
			continue
		}
		for _, e := range answers[i].Events {
			e.Node = cmp.Or(e.Node, node)
			out.Events = append(out.Events, e)
		}
		if t, err := time.Parse(time.RFC3339Nano, answers[i].Next); err == nil {
			cut = later(cut, t)
		}
	}
	return cut
}

func (p *Part) ask(ctx context.Context, c *operation.Call, node string, in *Page) (out Timeline, err error) {
	page := *in
	page.Nodes = false
	declared := List.Declared()
	args, err := declared.Given(&page)
	if err != nil {
		return out, err
	}
	result, err := p.Table().RunElsewhere(ctx, &c.Caller, node, List.Name, args)
	if err == nil {
		err = json.Unmarshal(result, &out)
	}
	return out, err
}
