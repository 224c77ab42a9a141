package alarms

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"voltbus/alarm"
	"voltbus/alarm/storage"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/query"
)

func (p *Part) list(ctx context.Context, _ *operation.Call, in *Page) (Alarms, error) {
	list, err := p.Monitor.List(ctx, in.Limit)
	if err != nil {
		return Alarms{}, err
	}
	out := Alarms{
		Alarms: make([]Alarm, len(list.Alarms)), All: list.All, Open: list.Open, Flood: pointer(list.Flood), Recent: list.Recent, Nodes: []NodeAlarms{},
	}
	for i := range list.Alarms {
		out.Alarms[i] = shown(&list.Alarms[i])
	}
	out.Version = version(&out)
	if in.Local || p.Below == nil {
		if out.Same = in.Local && in.Known == out.Version; out.Same {
			out.Alarms = []Alarm{}
		}
		return out, nil
	}
	p.addBelow(&out, in.Limit)
	return out, nil
}

// addBelow adds the alarms of descendants.
func (p *Part) addBelow(out *Alarms, limit int) {
	list, nodes := p.Below()
	out.Nodes = append(out.Nodes, nodes...)
	for i := range nodes {
		out.All, out.Open = out.All+nodes[i].All, out.Open+nodes[i].Open
	}
	if len(list) == 0 {
		return
	}
	out.Alarms = append(out.Alarms, list...)
	slices.SortFunc(out.Alarms, func(a, b Alarm) int {
		return cmp.Or(
			cmp.Compare(alarm.State(a.State).Order(), alarm.State(b.State).Order()), cmp.Compare(alarm.Priority(b.Priority).Rank(), alarm.Priority(a.Priority).Rank()),
			b.Since.Compare(a.Since), strings.Compare(a.Node, b.Node), strings.Compare(a.ID, b.ID),
		)
	})
	out.Alarms = out.Alarms[:min(limit, len(out.Alarms))]
}

// version returns a text that changes with a list.
func version(a *Alarms) string {
	h := fnv.New128a()
	_ = json.NewEncoder(h).Encode(a) // a hash takes everything, and everything in a list can be encoded
	return hex.EncodeToString(h.Sum(nil))
}

// did says what an act did in the audit log.
func did(c *operation.Call, in *Act) (id alarm.ID, by string) {
	c.Did(in.Alarm, map[string]string{"note": in.Note})
	return alarm.ID(in.Alarm), person(c)
}

func person(c *operation.Call) string { return strings.TrimPrefix(c.Name, identity.PersonKind+":") }

func (p *Part) acknowledge(ctx context.Context, c *operation.Call, in *Act) (operation.None, error) {
	id, by := did(c, in)
	if agent, key, is := id.Source(); is {
		if err := p.AcknowledgeAlert(ctx, agent, key, by); err != nil {
			return operation.None{}, err
		}
	}
	return operation.None{}, p.Monitor.Acknowledge(ctx, id, by, in.Note)
}

func (p *Part) reset(ctx context.Context, c *operation.Call, in *Act) (operation.None, error) {
	id, by := did(c, in)
	return operation.None{}, p.Monitor.Reset(ctx, id, by, in.Note)
}

func (p *Part) shelve(ctx context.Context, c *operation.Call, in *Shelving) (operation.None, error) {
	until := p.Now().Add(time.Duration(in.Seconds * float64(time.Second)))
	c.Did(in.Alarm, map[string]string{"note": in.Note, "until": until.UTC().Format(time.RFC3339)})
	return operation.None{}, p.Monitor.Shelve(ctx, alarm.ID(in.Alarm), until, person(c), in.Note)
}

func (p *Part) unshelve(ctx context.Context, c *operation.Call, in *Act) (operation.None, error) {
	id, by := did(c, in)
	return operation.None{}, p.Monitor.Unshelve(ctx, id, by, in.Note)
}

func (p *Part) remove(ctx context.Context, c *operation.Call, in *Act) (operation.None, error) {
	id, by := did(c, in)
	return operation.None{}, p.Monitor.Remove(ctx, id, by, in.Note)
}

func (p *Part) restore(ctx context.Context, c *operation.Call, in *Act) (operation.None, error) {
	id, by := did(c, in)
	return operation.None{}, p.Monitor.Restore(ctx, id, by, in.Note)
}

// instant reads a time; zero for none.
func (p *Part) instant(name string, t operation.Time) (time.Time, error) {
	if t == "" {
		return time.Time{}, nil
	}
	at, err := query.ParseTime(string(t), p.Now())
	if err != nil {
		return at, fault.E("alarm", fault.Invalid, name, err)
	}
	return at, nil
}

func (p *Part) history(ctx context.Context, _ *operation.Call, in *Query) (AlarmHistory, error) {
	from, err := p.instant("from", in.From)
	if err != nil {
		return AlarmHistory{}, err
	}
	to, err := p.instant("to", in.To)
	if err != nil {
		return AlarmHistory{}, err
	}
	q := storage.Query{Alarm: alarm.ID(in.Alarm), Rule: in.Rule, Point: in.Point, From: from, To: to, Before: int64(in.Before), Limit: in.Limit}
	list, err := p.Monitor.History(ctx, q)
	if err != nil {
		return AlarmHistory{}, err
	}
	out := AlarmHistory{Changes: make([]AlarmChange, len(list))}
	for i := range list {
		out.Changes[i] = change(&list[i])
	}
	if len(list) == in.Limit {
		out.Next = int(list[len(list)-1].Number)
	}
	return out, nil
}

const week = 7 * 24 * time.Hour

func (p *Part) rates(ctx context.Context, _ *operation.Call, in *Time) (AlarmRates, error) {
	to, err := p.instant("to", in.To)
	if err != nil {
		return AlarmRates{}, err
	}
	if to.IsZero() {
		to = p.Now().UTC()
	}
	from, err := p.instant("from", in.From)
	if err != nil {
		return AlarmRates{}, err
	}
	if from.IsZero() {
		from = to.Add(-week)
	}
	r, err := p.Monitor.Rates(ctx, from, to)
	out := AlarmRates{
		From: r.From, To: r.To, Alarms: r.Alarms, PerHour: r.PerHour, Peak: r.Peak, Flood: r.Flood, ByPriority: map[string]int{},
		Top: counts(r.Top), Chattering: counts(r.Chattering), Standing: standing(r.Standing),
	}
	for priority, n := range r.ByPriority {
		out.ByPriority[string(priority)] = n
	}
	return out, err
}

func (p *Part) rules(context.Context, *operation.Call, *struct{}) (AlarmRules, error) {
	list := p.Monitor.Rules()
	out := AlarmRules{Rules: make([]KeptRule, len(list))}
	for i := range list {
		out.Rules[i] = ruleOf(&list[i])
	}
	return out, nil
}

func (p *Part) put(ctx context.Context, c *operation.Call, in *NewRule) (KeptRule, error) {
	c.Did(in.Name, map[string]string{"check": string(in.Check), "note": in.Note})
	expect := document.AnyVersion
	if in.Expect != nil {
		expect = *in.Expect
	}
	r, err := p.Monitor.Put(ctx, in.Rule, c.Name, in.Note, expect)
	if err != nil {
		return KeptRule{}, err
	}
	return ruleOf(&r), nil
}

func (p *Part) delete(ctx context.Context, c *operation.Call, in *RuleName) (operation.None, error) {
	c.Did(in.Rule, map[string]string{"note": in.Note})
	return operation.None{}, p.Monitor.Delete(ctx, in.Rule, c.Name, in.Note)
}

func (p *Part) try(ctx context.Context, _ *operation.Call, in *TriedRule) (TriedPoints, error) {
	list, all, err := p.Monitor.Try(ctx, in.Rule)
	if err != nil {
		return TriedPoints{}, err
	}
	out := TriedPoints{Points: make([]TriedPoint, len(list)), All: all}
	for i := range list {
		t := &list[i]
		out.Points[i] = TriedPoint{
			Point: string(t.Info.Path), Description: t.Info.Description, Unit: t.Info.Unit, Time: pointer(t.Time), Value: t.Value, Active: t.Active, Unjudged: t.Unjudged,
		}
		if t.Active {
			out.Active++
		}
	}
	return out, nil
}
