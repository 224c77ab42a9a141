package control

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"voltbus/api/answer"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/query"
)

func list(a *access.Access, ctx context.Context, _ *access.Who, in *Page) (answer.ControlPoints, error) {
	return a.Points(ctx, access.Filter{Pattern: point.Pattern(in.Pattern), Busy: in.Busy, Limit: in.Limit, After: point.Path(in.After)})
}

func who(a *access.Access, ctx context.Context, by *access.Who, in *Path) (answer.Who, error) {
	return a.Who(ctx, by, point.Path(in.Path))
}

func held(a *access.Access, ctx context.Context, by *access.Who, in *Requester) (answer.Slots, error) {
	return a.Held(ctx, by, in.Requester)
}

func get(a *access.Access, ctx context.Context, by *access.Who, in *Points) (answer.Readings, error) {
	return a.Get(ctx, by, in.Points)
}

func overrides(a *access.Access, ctx context.Context, by *access.Who, _ *Nothing) (answer.Holders, error) {
	return a.Overrides(ctx, by)
}

func waiting(a *access.Access, ctx context.Context, _ *access.Who, _ *Nothing) (answer.Slots, error) {
	return a.Waiting(ctx)
}

func cancel(a *access.Access, ctx context.Context, by *access.Who, in *Task) (answer.Decided, error) {
	return a.Cancel(ctx, by, in.Task)
}

func clearOverride(a *access.Access, ctx context.Context, by *access.Who, in *Pattern) (answer.Decided, error) {
	return a.ClearOverride(ctx, by, point.Pattern(in.Pattern))
}

func (p *Part) tasks(a *access.Access, ctx context.Context, by *access.Who, in *Span) (answer.Tasks, error) {
	now := p.Now()
	from, err := query.ParseTime(string(cmp.Or(in.From, "now")), now)
	if err != nil {
		return answer.Tasks{}, fault.E(Tasks.Name, fault.Invalid, "from", err)
	}
	var to time.Time
	if in.To != "" {
		if to, err = query.ParseTime(string(in.To), now); err != nil {
			return answer.Tasks{}, fault.E(Tasks.Name, fault.Invalid, "to", err)
		}
	}
	return a.Tasks(ctx, by, point.Path(in.Path), from, to)
}

func (p *Part) priorities(ctx context.Context, c *operation.Call, in *Path) (answer.Priorities, error) {
	if p.Access == nil {
		return answer.Priorities{}, operation.NotHere("control")
	}
	return p.Access.Priorities(ctx, asker(&c.Caller), point.Path(in.Path))
}

func (p *Part) freeze(ctx context.Context, c *operation.Call, in *answer.Freeze) (answer.Readings, error) {
	c.Did(in.Device, map[string]any{"clear": in.Clear})
	if p.Access == nil {
		return answer.Readings{}, operation.NotHere("control")
	}
	return p.Access.Freeze(ctx, asker(&c.Caller), in)
}

func (p *Part) command(ctx context.Context, c *operation.Call, in *answer.NewCommands) (answer.CommandResults, error) {
	if p.Access == nil {
		return answer.CommandResults{}, operation.NotHere("control")
	}
	name(in.Commands, c.Key)
	return p.Access.Command(ctx, asker(&c.Caller), in)
}

// set answers as command does for one command: a refusal, or a failure at the device, is in the result.
func (p *Part) set(ctx context.Context, c *operation.Call, in *Single) (answer.Commanded, error) {
	out, err := p.command(ctx, c, &answer.NewCommands{Commands: []answer.NewCommand{in.NewCommand}, Wait: in.Wait})
	if err != nil {
		return answer.Commanded{}, err
	}
	return out.Results[0], nil
}

// name derives identifiers for commands that have none from an idempotency key.
func name(commands []answer.NewCommand, key string) {
	for i := range commands {
		switch {
		case key == "" || commands[i].ID != "":
		case len(commands) == 1:
			commands[i].ID = key
		default:
			commands[i].ID = key + "/" + strconv.Itoa(i)
		}
	}
}

// leave prepares commands for another node. It checks the levels that callers of this node may use, and fills in the identifiers and
// levels that they would have here: a node of an older version knows neither the key nor the role.
func leave(c *operation.Call, in *answer.NewCommands) error {
	name(in.Commands, c.Key)
	by := asker(&c.Caller)
	for i := range in.Commands {
		one := &in.Commands[i]
		one.Level = cmp.Or(one.Level, int(by.Level))
		if err := by.Command(point.Path(one.Point), one.Level, point.Value{}); err != nil {
			return err
		}
	}
	return nil
}

func leaveOne(c *operation.Call, in *Single) error {
	all := answer.NewCommands{Commands: []answer.NewCommand{in.NewCommand}}
	err := leave(c, &all)
	in.NewCommand = all.Commands[0]
	return err
}
