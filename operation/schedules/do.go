package schedules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/control"
	"voltbus/query"
	"voltbus/schedule/keeper"
)

func (p *Part) list(context.Context, *operation.Call, *struct{}) (Schedules, error) {
	list := p.Keeper.Schedules()
	out := Schedules{Schedules: make([]Kept, len(list))}
	for i := range list {
		out.Schedules[i] = keptOf(&list[i])
	}
	return out, nil
}

// version returns the version that a document must have.
func version(expect *int) int {
	if expect == nil {
		return document.AnyVersion
	}
	return *expect
}

func (p *Part) put(ctx context.Context, c *operation.Call, in *NewSchedule) (Kept, error) {
	c.Did(in.Name, map[string]string{"note": in.Note})
	s, err := p.Keeper.Put(ctx, in.Schedule, c.Name, in.Note, version(in.Expect))
	if err != nil {
		return Kept{}, err
	}
	return keptOf(&s), nil
}

func (p *Part) delete(ctx context.Context, c *operation.Call, in *Name) (operation.None, error) {
	c.Did(in.Schedule, map[string]string{"note": in.Note})
	return operation.None{}, p.Keeper.Delete(ctx, in.Schedule, c.Name, in.Note)
}

func (p *Part) preview(_ context.Context, _ *operation.Call, in *Preview) (Changes, error) {
	start := p.Now()
	if in.Start != "" {
		var err error
		if start, err = query.ParseTime(string(in.Start), p.Now()); err != nil {
			return Changes{}, fault.E("schedule.preview", fault.Invalid, "start", err)
		}
	}
	plan, err := p.Keeper.Plan(&in.Schedule)
	if err != nil {
		return Changes{}, err
	}
	now, list := plan.At(start), plan.Changes(start, in.Most)
	out := Changes{Now: *changeOf(&now), Changes: make([]Change, len(list))}
	for i := range list {
		out.Changes[i] = *changeOf(&list[i])
	}
	return out, nil
}

var (
	errNone    = errors.New("is no schedule of this node; schedule.list lists them")
	errNoPoint = errors.New("is not a point of the schedule")
	errNever   = errors.New("has no change within 400 days; command the points with a lease instead")
)

// found returns a schedule that is right.
func (p *Part) found(name string) (*keeper.Schedule, error) {
	const op = "schedule.hold"
	list := p.Keeper.Schedules()
	i := slices.IndexFunc(list, func(s keeper.Schedule) bool { return s.Name == name })
	switch {
	case i < 0:
		return nil, fault.E(op, fault.NotFound, name, errNone)
	case list[i].Wrong != nil:
		return nil, fault.E(op, fault.Conflict, name, list[i].Wrong)
	case list[i].Next == nil:
		return nil, fault.E(op, fault.Conflict, name, errNever)
	}
	return &list[i], nil
}

func (p *Part) hold(ctx context.Context, c *operation.Call, in *Hold) (Holding, error) {
	c.Did(in.Schedule, map[string]string{"value": string(in.Value), "reason": in.Reason})
	s, err := p.found(in.Schedule)
	if err != nil {
		return Holding{}, err
	}
	points := in.Points
	if len(points) == 0 {
		points = s.Points
	}
	lease := s.Next.Time.Sub(p.Now())
	if lease < time.Second {
		return Holding{}, fault.E("schedule.hold", fault.Unavailable, in.Schedule, errors.New("changes at this moment; ask again in a second"))
	}
	var all answer.NewCommands
	for _, path := range points {
		if !slices.Contains(s.Points, path) {
			return Holding{}, fault.E("schedule.hold", fault.Invalid, path, errNoPoint)
		}
		all.Commands = append(all.Commands, answer.NewCommand{
			Point: path, Value: in.Value, Level: in.Level, Lease: lease.Seconds(), Reason: reason(in.Reason, in.Schedule),
		})
	}
	out := Holding{Until: s.Next.Time.UTC()}
	var results answer.CommandResults
	err = asker{p.Table, &c.Caller}.run(ctx, control.Command.Declared(), &all, &results)
	out.Results = results.Results
	return out, err
}

func reason(given, name string) string {
	if given == "" {
		return fmt.Sprintf("held until the next change of the schedule %s", name)
	}
	return given
}

var errEarly = errors.New("the node is starting; ask again")

// asker asks for operations in somebody's name.
type asker struct {
	table func() *operation.Table
	who   *operation.Caller
}

// run carries out an operation.
func (a asker) run(ctx context.Context, d operation.Declared, in, out any) error {
	t := a.table()
	if t == nil {
		return fault.E("schedule", fault.Unavailable, d.Name, errEarly)
	}
	args, err := d.Given(in)
	if err != nil {
		return err
	}
	result, err := t.Run(ctx, a.who, d.Name, args)
	if err == nil {
		err = json.Unmarshal(result, out)
	}
	return err
}

func (p *Part) calendars(context.Context, *operation.Call, *struct{}) (Calendars, error) {
	list := p.Keeper.Calendars()
	out := Calendars{Calendars: make([]KeptCalendar, len(list))}
	for i := range list {
		out.Calendars[i] = calendarOf(&list[i], p.Now())
	}
	return out, nil
}

func (p *Part) putCalendar(ctx context.Context, c *operation.Call, in *NewCalendar) (KeptCalendar, error) {
	c.Did(in.Name, map[string]string{"note": in.Note})
	kept, err := p.Keeper.PutCalendar(ctx, in.Calendar, c.Name, in.Note, version(in.Expect))
	if err != nil {
		return KeptCalendar{}, err
	}
	return calendarOf(&kept, p.Now()), nil
}

func (p *Part) deleteCalendar(ctx context.Context, c *operation.Call, in *CalendarName) (operation.None, error) {
	c.Did(in.Calendar, map[string]string{"note": in.Note})
	return operation.None{}, p.Keeper.DeleteCalendar(ctx, in.Calendar, c.Name, in.Note)
}
