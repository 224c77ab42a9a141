package schedules

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/control"
	"voltbus/point"
	"voltbus/schedule/keeper"
)

// Commander commands points in the name of schedules by the operations of control, each with the right to the points of the schedule alone.
type Commander struct {
	// Table returns the operations of the node; nil before there are any.
	Table func() *operation.Table
}

func principal(name string) string {
	return identity.Principal{Kind: identity.ScheduleKind, Name: name}.String()
}

func (c Commander) as(who *operation.Caller) asker { return asker{c.Table, who} }

// Set implements keeper.Commander.
func (c Commander) Set(ctx context.Context, o *keeper.Order) (problems []keeper.Problem, err error) {
	who := &operation.Caller{Name: principal(o.Schedule), Agent: o.Schedule}
	var all answer.NewCommands
	value := o.Value.AppendJSON(nil)
	for i, path := range o.Points {
		who.Grants.Command = append(who.Grants.Command, identity.CommandGrant{Path: point.Pattern(path), Level: o.Level})
		all.Commands = append(all.Commands, answer.NewCommand{ID: o.ID + "." + strconv.Itoa(i), Point: path, Value: value, Level: o.Level, Reason: o.Reason})
	}
	var done answer.CommandResults
	if err := c.as(who).run(ctx, control.Command.Declared(), &all, &done); err != nil {
		return nil, err
	}
	for i := range done.Results {
		if r := &done.Results[i]; r.Error != nil {
			problems = append(problems, keeper.Problem{Point: r.Point, Text: r.Error.Message})
		}
	}
	return problems, nil
}

// Release implements keeper.Commander.
func (c Commander) Release(ctx context.Context, list []keeper.Held) error {
	var errs []error
	for _, h := range list {
		var done answer.Decided
		who := &operation.Caller{Name: principal(h.Schedule), Agent: h.Schedule}
		err := c.as(who).run(ctx, control.Release.Declared(), &answer.CommandSelection{Point: h.Point, Level: h.Level}, &done)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Held implements keeper.Commander.
func (c Commander) Held(ctx context.Context) (list []keeper.Held, err error) {
	var held answer.Slots
	who := &operation.Caller{Name: principal("all"), Role: identity.Viewer}
	if err := c.as(who).run(ctx, control.Held.Declared(), &control.Requester{}, &held); err != nil {
		return nil, err
	}
	for i := range held.Commands {
		s := &held.Commands[i]
		if name, is := strings.CutPrefix(s.Requester, identity.ScheduleKind+":"); is {
			list = append(list, keeper.Held{Schedule: name, Point: s.Path, Level: s.Level})
		}
	}
	return list, nil
}
