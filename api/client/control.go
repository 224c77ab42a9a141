package client

import (
	"context"

	"voltbus/api/answer"
	"voltbus/operation"
	"voltbus/operation/control"
)

// ReadNow reads points from their devices now, each answered by itself.
func (c *Client) ReadNow(ctx context.Context, points ...string) (answer.Readings, error) {
	return Do(ctx, c, control.Get, control.Points{Points: points})
}

// Freeze has a device copy its counters into frozen counters, and set them to zero then if clears is true. It returns
// the points that this changed. fault.Refused: the device has no counters to freeze. fault.Conflict: somebody else has
// reserved something of it.
func (c *Client) Freeze(ctx context.Context, device string, clears bool) (answer.Readings, error) {
	return Do(ctx, c, control.Freeze, answer.Freeze{Device: device, Clear: clears})
}

// Command has commands decided and carried out, each answered by itself. Commands with an identifier may
// be repeated: they get the first answer.
func (c *Client) Command(ctx context.Context, commands answer.NewCommands) (answer.CommandResults, error) {
	return Do(ctx, c, control.Command, commands)
}

// Release ends commands, and reservations if it names all. fault.NotFound: there are none.
func (c *Client) Release(ctx context.Context, s answer.CommandSelection) (answer.Decided, error) {
	return Do(ctx, c, control.Release, s)
}

// Revert ends every command at and below a path, whoever made it. fault.NotFound: there are none.
func (c *Client) Revert(ctx context.Context, r answer.Revert) (answer.Decided, error) {
	return Do(ctx, c, control.Revert, r)
}

// Renew gives leases a new length. fault.NotFound: there are none.
func (c *Client) Renew(ctx context.Context, s answer.CommandSelection) (answer.Decided, error) {
	return Do(ctx, c, control.Renew, s)
}

// Reserve asks for windows, all or none. fault.Conflict: others stand in the way.
func (c *Client) Reserve(ctx context.Context, t answer.NewTask) (answer.Decided, error) {
	return Do(ctx, c, control.Reserve, t)
}

// CancelTask ends a reservation.
func (c *Client) CancelTask(ctx context.Context, task string) (answer.Decided, error) {
	return Do(ctx, c, control.Cancel, control.Task{Task: task})
}

// Tasks lists reservations that touch a path, "" for every one, and a time, as people write it.
func (c *Client) Tasks(ctx context.Context, path, from, to string) (answer.Tasks, error) {
	return Do(ctx, c, control.Tasks, control.Span{Path: path, From: operation.Time(from), To: operation.Time(to)})
}

// ControlPoints shows points of a pattern as those see them who command them; busy leaves out those that
// nobody commands. after is the Next of the page before.
func (c *Client) ControlPoints(ctx context.Context, pattern string, busy bool, after string) (answer.ControlPoints, error) {
	return Do(ctx, c, control.List, control.Page{Pattern: pattern, Busy: busy, After: after})
}

// Who says who holds a point, a device or a branch.
func (c *Client) Who(ctx context.Context, path string) (answer.Who, error) {
	return Do(ctx, c, control.Who, control.Path{Path: path})
}

// Held lists the commands of a requester, such as "person:ada"; of all for "".
func (c *Client) Held(ctx context.Context, requester string) (answer.Slots, error) {
	return Do(ctx, c, control.Held, control.Requester{Requester: requester})
}

// Overrides lists the points that were taken out of control.
func (c *Client) Overrides(ctx context.Context) (answer.Holders, error) {
	return Do(ctx, c, control.Overrides, control.Nothing{})
}

// Override takes points out of control.
func (c *Client) Override(ctx context.Context, o answer.NewOverride) (answer.Decided, error) {
	return Do(ctx, c, control.Override, o)
}

// ClearOverride ends an override, by exactly its pattern.
func (c *Client) ClearOverride(ctx context.Context, pattern string) (answer.Decided, error) {
	return Do(ctx, c, control.ClearOverride, control.Pattern{Pattern: pattern})
}

// Waiting lists the commands that wait for a second person.
func (c *Client) Waiting(ctx context.Context) (answer.Slots, error) {
	return Do(ctx, c, control.Waiting, control.Nothing{})
}

// Approve approves or refuses a command that waits.
func (c *Client) Approve(ctx context.Context, a answer.Approval) (answer.Decided, error) {
	return Do(ctx, c, control.Approve, a)
}
