package access

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"voltbus/api/answer"
	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// Bounds of one request.
const (
	MaxPoints   = 20_000           // points per read
	MaxCommands = 10_000           //
	maxWait     = time.Minute      // longest wait for devices
	usualWait   = 10 * time.Second // by default
)

var (
	errNoPoints   = errors.New(`must be a list of paths, such as ["site/zone1/temperature"]`)
	errNoCommands = errors.New(`must be a list of commands, such as [{"point":"site/zone1/setpoint","value":21}]`)
	errNoValue    = errors.New("there is no value; write a number, true, false or a text, or release the point")
	errWait       = fmt.Errorf("is a number of seconds from 0 to %g", maxWait.Seconds())
)

func errTooMany(most int) error { return fmt.Errorf("are more than %d; send them in parts", most) }

// Get reads points from their devices now. Each has its own result; the error concerns the whole request.
func (a *Access) Get(ctx context.Context, who *Who, points []string) (answer.Readings, error) {
	const op = "access.Get"
	switch {
	case len(points) == 0:
		return answer.Readings{}, fault.E(op, fault.Invalid, "points", errNoPoints)
	case len(points) > MaxPoints:
		return answer.Readings{}, fault.E(op, fault.Invalid, "points", errTooMany(MaxPoints))
	}
	out := answer.Readings{Readings: make([]answer.Reading, len(points))}
	paths, places := make([]point.Path, 0, len(points)), make([]int, 0, len(points))
	for i, name := range points {
		path := point.Path(name)
		err := path.Validate()
		if err == nil {
			err = who.See(path)
		} else {
			err = fault.E(op, fault.Invalid, "", err)
		}
		if err != nil {
			out.Readings[i] = reading(path, &device.Reading{Err: err})
			continue
		}
		paths, places = append(paths, path), append(places, i)
	}
	readings, elsewhere := a.cfg.Dispatcher.Read(ctx, paths), a.places()
	for k := range readings {
		readings[k].Err = elsewhere.explain(who, paths[k], readings[k].Err)
		out.Readings[places[k]] = reading(paths[k], &readings[k])
	}
	return out, nil
}

func reading(path point.Path, r *device.Reading) answer.Reading {
	if r.Err != nil {
		return answer.Reading{Point: clip(string(path)), Value: point.Value{}.AppendJSON(nil), Kind: point.None.String(), Quality: point.Bad.String(), Error: problem(r.Err)}
	}
	s := &r.Sample
	return answer.Reading{
		Point: string(path), Time: moment(s.Time), Value: s.Value.AppendJSON(nil), Kind: s.Value.Kind().String(), Quality: s.Quality.String(),
	}
}

// Command decides and carries out commands. Each has its own result; the error concerns the whole request, or
// says that the outcome is unknown.
func (a *Access) Command(ctx context.Context, who *Who, in *answer.NewCommands) (answer.CommandResults, error) {
	const op = "access.Command"
	wait := usualWait
	switch {
	case len(in.Commands) == 0:
		return answer.CommandResults{}, fault.E(op, fault.Invalid, "commands", errNoCommands)
	case len(in.Commands) > MaxCommands:
		return answer.CommandResults{}, fault.E(op, fault.Invalid, "commands", errTooMany(MaxCommands))
	case in.Wait != nil:
		if !(*in.Wait >= 0 && *in.Wait <= maxWait.Seconds()) {
			return answer.CommandResults{}, fault.E(op, fault.Invalid, "wait", errWait)
		}
		wait = time.Duration(*in.Wait * float64(time.Second))
	}
	out := answer.CommandResults{Results: make([]answer.Commanded, len(in.Commands))}
	commands, places := make([]control.Command, 0, len(in.Commands)), make([]int, 0, len(in.Commands))
	for i := range in.Commands {
		c, err := a.command(who, &in.Commands[i])
		if err != nil {
			out.Results[i] = answer.Commanded{ID: clip(c.ID), Point: clip(string(c.Point)), Status: string(control.Refused), Error: problem(err)}
			continue
		}
		commands, places = append(commands, c), append(places, i)
	}
	results, err := a.cfg.Dispatcher.CommandMany(ctx, commands, wait)
	if err != nil {
		return answer.CommandResults{}, err
	}
	elsewhere := a.places()
	for k := range results {
		elsewhere.explainUnknown(who, commands[k].Point, &results[k].Decision)
		out.Results[places[k]] = commanded(&commands[k], &results[k])
	}
	return out, nil
}

// command parses a command, and checks whether the caller may give it.
func (a *Access) command(who *Who, in *answer.NewCommand) (control.Command, error) {
	const op = "access.Command"
	c := control.Command{
		ID: in.ID, Point: point.Path(in.Point), Requester: who.Name, Task: in.Task, Level: level(in.Level, who.Level), Reason: in.Reason,
	}
	if in.Fence != nil {
		c.Fence = control.Fence{Group: in.Fence.Group, Term: in.Fence.Term, Leader: in.Fence.Leader}
	}
	if c.ID == "" {
		c.ID = rand.Text()
	}
	err := identifier(c.ID)
	if err != nil {
		return c, err
	}
	if err := c.Point.Validate(); err != nil {
		return c, fault.E(op, fault.Invalid, "point", err)
	}
	if c.Lease, err = seconds("lease", in.Lease); err != nil {
		return c, err
	}
	if c.Value, err = value(in.Value); err != nil {
		return c, err
	}
	if c.Level > control.Levels {
		return c, nil // the model reports what is wrong
	}
	return c, a.refuse(who, "control.command", string(c.Point), who.Command(c.Point, int(c.Level), c.Value))
}

// value parses a value; one that JSON cannot represent as a number is a string.
func value(raw []byte) (point.Value, error) {
	kind := ""
	switch string(raw) {
	case `"NaN"`, `"+Inf"`, `"-Inf"`:
		kind = point.Float.String()
	}
	v, err := answer.ParseValue(kind, raw)
	if err == nil && v.Kind() == point.None {
		err = errNoValue
	}
	if err != nil {
		return v, fault.E("access.Command", fault.Invalid, "value", err)
	}
	return v, nil
}

func commanded(c *control.Command, r *dispatch.Result) answer.Commanded {
	out := answer.Commanded{
		ID: clip(c.ID), Point: string(c.Point), Status: string(r.Status), Wins: r.Wins, Repeat: r.Repeat, Output: string(r.Output),
		Until: moment(r.Until), Later: moment(r.Later),
	}
	if r.Reported.Kind() != point.None {
		out.Reported = r.Reported.AppendJSON(nil)
	}
	switch {
	case r.Status == control.Refused:
		out.Error = problem(refused(&r.Decision))
	case r.Failed != nil:
		out.Error = problem(r.Failed)
		out.Error.Why = string(r.Why)
	}
	return out
}

var (
	errNothing = errors.New("names no command; write point, id, level or task, or all for everything")
	errOfOther = errors.New("ends what somebody else holds, which needs the role engineer, or administer of agents")
)

// Release ends commands.
func (a *Access) Release(ctx context.Context, who *Who, in *answer.CommandSelection) (answer.Decided, error) {
	const op = "access.Release"
	of, by, err := a.holder(who, in.Requester, "control.release")
	if err != nil {
		return answer.Decided{}, err
	}
	s := selection(in)
	switch {
	case in.All && s != (control.Selection{}):
		return answer.Decided{}, fault.E(op, fault.Invalid, "all", errors.New("is everything; leave out point, id, level and task"))
	case in.All:
		err := a.cfg.Dispatcher.Leave(ctx, of, control.CauseReleased, by)
		return answer.Decided{Status: string(control.Accepted)}, err
	case s == (control.Selection{}):
		return answer.Decided{}, fault.E(op, fault.Invalid, "", errNothing)
	}
	d, err := a.cfg.Dispatcher.Release(ctx, of, s, by)
	a.explainBranch(ctx, who, s.Point, &d)
	return decided(d, err)
}

// unmanaged is the refusal of a caller without the right to manage.
func (w *Who) unmanaged(op, subject string) error {
	err := errOfOther
	if w.Neighbour {
		err = fmt.Errorf("ends what somebody else holds: %w", &identity.Missing{Capability: "administer"})
	}
	return fault.E(op, fault.Refused, clip(subject), err)
}

// Revert ends every command at and below a path, whoever gave it.
func (a *Access) Revert(ctx context.Context, who *Who, in *answer.Revert) (answer.Decided, error) {
	const op = "access.Revert"
	path := point.Path(in.Path)
	if err := path.Validate(); err != nil {
		return answer.Decided{}, fault.E(op, fault.Invalid, "path", err)
	}
	if !who.Manages {
		return answer.Decided{}, a.refuse(who, "control.revert", clip(in.Path), who.unmanaged(op, in.Path))
	}
	spread, err := seconds("spread", in.Spread)
	if err != nil {
		return answer.Decided{}, err
	}
	d, err := a.cfg.Dispatcher.Revert(ctx, control.Reversion{Path: path, By: who.Name, Spread: spread})
	a.explainBranch(ctx, who, path, &d)
	return decided(d, err)
}

// Renew renews leases.
func (a *Access) Renew(ctx context.Context, who *Who, in *answer.CommandSelection) (answer.Decided, error) {
	length, err := seconds("lease", in.Lease)
	switch {
	case err != nil:
		return answer.Decided{}, err
	case in.Requester != "" && in.Requester != who.Name:
		return answer.Decided{}, fault.E("access.Renew", fault.Refused, in.Requester, errors.New("renews what somebody else holds; only the holder does that"))
	}
	return decided(a.cfg.Dispatcher.Renew(ctx, who.Name, selection(in), length))
}

func selection(in *answer.CommandSelection) control.Selection {
	return control.Selection{Command: in.ID, Point: point.Path(in.Point), Level: level(in.Level, 0), Task: in.Task}
}

// holder returns the requester whose holdings a request concerns, and the actor.
func (a *Access) holder(who *Who, named, action string) (of, by string, err error) {
	switch {
	case named == "" || named == who.Name:
		return who.Name, "", nil
	case who.Manages:
		return named, who.Name, nil
	}
	err = who.unmanaged("access", named)
	return "", "", a.refuse(who, action, clip(named), err)
}

// Refused is a request that the model refused, and the holders that stand in its way.
type Refused struct {
	err     error
	Why     string // the reason, for programs
	Holders []answer.Holder
}

// NewRefused returns a request that the model of another replica refused.
func NewRefused(err error, why string, holders []answer.Holder) *Refused {
	return &Refused{err, why, holders}
}

// Error implements error.
func (r *Refused) Error() string { return r.err.Error() }

// Unwrap returns the fault.
func (r *Refused) Unwrap() error { return r.err }

func refused(d *control.Decision) error {
	return &Refused{err: d.Err, Why: string(d.Why), Holders: holders(d.Holders)}
}

func decided(d control.Decision, err error) (answer.Decided, error) {
	switch {
	case err != nil:
		return answer.Decided{}, err
	case d.Status == control.Refused:
		return answer.Decided{}, refused(&d)
	}
	return answer.Decided{Status: string(d.Status), Until: moment(d.Until), Lost: holders(d.Lost), Points: d.Points}, nil
}

// problem describes in words what went wrong with one of several items.
func problem(err error) *answer.ControlError {
	p := &answer.ControlError{Kind: fault.KindOf(err).String(), Message: err.Error(), Missing: identity.MissingOf(err)}
	if r, ok := errors.AsType[*Refused](err); ok {
		p.Why, p.Holders = r.Why, r.Holders
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
		p.Message = e.Err.Error()
	}
	return p
}
