// Package judge declares and carries out the operations on readings that rules withheld.
package judge

import (
	"context"
	"time"

	"voltbus/identity"
	"voltbus/judge/setting"
	"voltbus/operation"
	"voltbus/sink/destination"
	"voltbus/uplink/judged"
)

// Destinations are what readings are withheld from. See destination.Destinations.
type Destinations interface {
	States(ctx context.Context) []destination.State
	Withheld(name, rule string, skip, limit int) ([]destination.Refused, error)
	Release(ctx context.Context, name, rule string) (accepted int, err error)
	Dismiss(name, rule string) (int, error)
}

// The arguments.
type (
	// Held names what is withheld from a destination.
	Held struct {
		Sink string `json:"sink" api:"required,max=64" doc:"Name of the destination; parent for the parent of the node"`
		Rule string `json:"rule" api:"max=64" doc:"Name of the rule that withheld them; all rules if left out"`
	}
	// Page selects readings that were withheld.
	Page struct {
		Sink  string `json:"sink" api:"required,max=64" doc:"Name of the destination; parent for the parent of the node"`
		Rule  string `json:"rule" api:"query,max=64" doc:"Name of the rule that withheld them; all rules if left out"`
		Skip  int    `json:"skip" api:"query,max=9007199254740992" doc:"So many are passed over"`
		Limit int    `json:"limit" api:"query,min=1,max=10000,default=100" doc:"So many at most"`
	}
)

// AllRules are the rules of the judge, for each destination.
type AllRules struct {
	Rules []RuleState `json:"rules" doc:"By destination, in the order of the configuration"`
	Kept  []HeldState `json:"kept" doc:"What became of withheld readings, by destination"`
}

// RuleState is what a rule found in the readings for a destination.
type RuleState struct {
	Sink     string `json:"sink"`
	Rule     string `json:"rule"`
	Check    string `json:"check" api:"one-of=range|rate|stuck|difference|ratio|residual|function"`
	Withheld uint64 `json:"withheld"` // readings, since the rule was added
	Marked   uint64 `json:"marked"`   // readings that were sent with a quality that says so
	Unjudged uint64 `json:"unjudged"` // of these, readings that a function gave no verdict on
	Failing  string `json:"failing,omitempty" doc:"Why the function of the rule cannot judge at present"`
}

// HeldState is what became of the readings that rules withheld from a destination: those that are kept, on the way, released, discarded and unkept.
type HeldState struct {
	Sink      string `json:"sink"`
	Withheld  uint64 `json:"withheld"`
	Kept      int    `json:"kept" api:"min=0"`    // that wait for a person
	Sending   int    `json:"sending" api:"min=0"` // that a person released, and that are on the way to the parent
	Released  uint64 `json:"released"`            // that it accepted when a person released them
	Discarded uint64 `json:"discarded"`           // by a person
	Unkept    uint64 `json:"unkept"`              // for which there was no room; the history has them
}

// WithheldReadings are readings that rules withheld.
type WithheldReadings struct {
	Readings []WithheldReading `json:"readings" doc:"Oldest first"`
	Kept     int               `json:"kept" api:"min=0"` // for the destination, by all rules
}

// WithheldReading is a reading that a rule withheld.
type WithheldReading struct {
	Point    string    `json:"point"`
	Time     time.Time `json:"time"`
	Value    string    `json:"value"` // in the unit of the destination
	Quality  string    `json:"quality"`
	Withheld time.Time `json:"withheld"` // when
	Rule     string    `json:"rule"`
	Reason   string    `json:"reason"`
}

// HeldCount says how many readings an operation concerned.
type HeldCount struct {
	Readings int `json:"readings" api:"min=0"`
	Kept     int `json:"kept" api:"min=0"` // that are still withheld from the destination
}

const smallBody = 4 << 10

// The operations.
var (
	List = operation.Declare[struct{}, AllRules](operation.Spec{
		Name: "judge.list", ID: "listJudgeRules", HTTP: "GET /judge", Role: identity.Viewer, Remote: true,
		Summary: "List the rules that readings are judged by before they are sent, with what each found", Result: "The rules of all destinations",
	})
	Withheld = operation.Declare[Page, WithheldReadings](operation.Spec{
		Name: "judge.withheld", ID: "listWithheldReadings", HTTP: "GET /judge/{sink}/withheld", Role: identity.Operator, Remote: true,
		Summary: "List the readings that rules withheld from a destination and that are kept", Result: "With the reasons",
	})
	Release = operation.Declare[Held, HeldCount](operation.Spec{
		Name: "judge.release", ID: "releaseWithheldReadings", HTTP: "POST /judge/{sink}/release", Role: identity.Engineer, Remote: true, Audited: true, Body: smallBody,
		Summary: "Send the readings that rules withheld from a destination", Result: "How many it accepted",
		Doc: "What the destination refuses then stays withheld, with its reason. What is released for the parent is sent in the background, also after an outage or a restart.",
	})
	Discard = operation.Declare[Held, HeldCount](operation.Spec{
		Name: "judge.discard", ID: "discardWithheldReadings", HTTP: "POST /judge/{sink}/discard", Role: identity.Engineer, Remote: true, Audited: true, Body: smallBody,
		Summary: "Discard the readings that rules withheld from a destination", Result: "How many were discarded",
		Doc: "The history of the node still has them.",
	})
)

// Part carries out the operations on withheld readings.
type Part struct {
	Destinations Destinations // nil for a node that is not running
	Parent       *judged.Log  // nil if no rule holds for the parent
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(List, nil, p.list), operation.Bind(Withheld, nil, p.withheld), operation.Bind(Release, nil, p.release), operation.Bind(Discard, nil, p.discard),
	}
	if p.Destinations == nil {
		return operation.Absent(list)
	}
	return list
}

func (p *Part) list(ctx context.Context, _ *operation.Call, _ *struct{}) (AllRules, error) {
	out := AllRules{Rules: []RuleState{}, Kept: []HeldState{}}
	states := p.Destinations.States(ctx)
	for i := range states {
		s := &states[i]
		for _, r := range s.Rules {
			out.Rules = append(out.Rules, RuleState{Sink: s.Name, Rule: r.Name, Check: r.Check, Withheld: r.Withheld, Marked: r.Marked, Unjudged: r.Unjudged, Failing: r.Err})
		}
		if len(s.Rules) > 0 || s.Held > 0 {
			out.Kept = append(out.Kept, HeldState{Sink: s.Name, Withheld: s.Withheld, Kept: s.Held, Released: s.Released, Discarded: s.Dismissed, Unkept: s.Unkept})
		}
	}
	if p.Parent != nil {
		s := p.Parent.State()
		for i := range s.Rules {
			r := &s.Rules[i]
			out.Rules = append(out.Rules, RuleState{Sink: setting.Parent, Rule: r.Name, Check: r.Check, Withheld: r.Withheld, Marked: r.Marked, Unjudged: r.Unjudged, Failing: r.Err})
		}
		out.Kept = append(out.Kept, HeldState{
			Sink: setting.Parent, Withheld: s.Withheld, Kept: s.Held, Sending: s.Sending, Released: s.Released, Discarded: s.Discarded, Unkept: s.Unkept,
		})
	}
	return out, nil
}

func (p *Part) withheld(_ context.Context, _ *operation.Call, in *Page) (out WithheldReadings, err error) {
	at, err := p.at(in.Sink)
	if err != nil {
		return out, err
	}
	list, err := at.withheld(in.Rule, in.Skip, in.Limit)
	if err != nil {
		return out, err
	}
	out = WithheldReadings{Readings: make([]WithheldReading, len(list)), Kept: at.kept()}
	for i := range list {
		r := &list[i]
		out.Readings[i] = WithheldReading{Point: r.Point, Time: r.Time, Value: r.Value, Quality: r.Quality, Withheld: r.At, Rule: r.Rule, Reason: r.Reason}
	}
	return out, nil
}

func (p *Part) release(ctx context.Context, c *operation.Call, in *Held) (out HeldCount, err error) {
	c.Did(in.Sink, map[string]any{"rule": in.Rule})
	at, err := p.at(in.Sink)
	if err != nil {
		return out, err
	}
	out.Readings, err = at.release(ctx, in.Rule)
	out.Kept = at.kept()
	return out, err
}

func (p *Part) discard(_ context.Context, c *operation.Call, in *Held) (out HeldCount, err error) {
	c.Did(in.Sink, map[string]any{"rule": in.Rule})
	at, err := p.at(in.Sink)
	if err != nil {
		return out, err
	}
	out.Readings, err = at.dismiss(in.Rule)
	out.Kept = at.kept()
	return out, err
}
