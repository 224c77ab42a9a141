package client

import (
	"context"
	"net/http"
	"net/url"

	"voltbus/api/answer"
)

// ReadNow reads points from their devices now, each answered by itself.
func (c *Client) ReadNow(ctx context.Context, points ...string) (r answer.Readings, err error) {
	return r, c.exchange(ctx, "POST control/get", nil, map[string][]string{"points": points}, &r)
}

// Freeze has a device copy its counters into frozen counters, and set them to zero then if clears is true. It returns
// the points that this changed. fault.Refused: the device has no counters to freeze. fault.Conflict: somebody else has
// reserved something of it.
func (c *Client) Freeze(ctx context.Context, device string, clears bool) (r answer.Readings, err error) {
	return r, c.exchange(ctx, "POST control/freeze", nil, answer.Freeze{Device: device, Clear: clears}, &r)
}

// Command has commands decided and carried out, each answered by itself. Commands with an identifier may
// be repeated: they get the first answer.
func (c *Client) Command(ctx context.Context, commands answer.NewCommands) (r answer.CommandResults, err error) {
	return r, c.exchange(ctx, "POST control/commands", nil, commands, &r)
}

// Release ends commands, and reservations if it names all. fault.NotFound: there are none.
func (c *Client) Release(ctx context.Context, s answer.CommandSelection) (d answer.Decided, err error) {
	return d, c.exchange(ctx, "POST control/release", nil, s, &d)
}

// Revert ends every command at and below a path, whoever made it. fault.NotFound: there are none.
func (c *Client) Revert(ctx context.Context, r answer.Revert) (d answer.Decided, err error) {
	return d, c.exchange(ctx, "POST control/revert", nil, r, &d)
}

// Renew gives leases a new length. fault.NotFound: there are none.
func (c *Client) Renew(ctx context.Context, s answer.CommandSelection) (d answer.Decided, err error) {
	return d, c.exchange(ctx, "POST control/renew", nil, s, &d)
}

// Reserve asks for windows, all or none. fault.Conflict: others stand in the way.
func (c *Client) Reserve(ctx context.Context, t answer.NewTask) (d answer.Decided, err error) {
	return d, c.exchange(ctx, "POST control/tasks", nil, t, &d)
}

// CancelTask ends a reservation.
func (c *Client) CancelTask(ctx context.Context, task string) (d answer.Decided, err error) {
	return d, c.exchange(ctx, "DELETE control/tasks/"+url.PathEscape(task), nil, nil, &d)
}

// Tasks lists reservations that touch a path, "" for every one, and a time, as people write it.
func (c *Client) Tasks(ctx context.Context, path, from, to string) (t answer.Tasks, err error) {
	params := url.Values{}
	set(params, "path", path)
	set(params, "from", from)
	set(params, "to", to)
	return t, c.get(ctx, "control/tasks", params, &t)
}

// ControlPoints shows points of a pattern as those see them who command them; busy leaves out those that
// nobody commands. after is the Next of the page before.
func (c *Client) ControlPoints(ctx context.Context, pattern string, busy bool, after string) (p answer.ControlPoints, err error) {
	params := url.Values{}
	set(params, "pattern", pattern)
	set(params, "after", after)
	if busy {
		params.Set("busy", "true")
	}
	return p, c.get(ctx, "control/points", params, &p)
}

// Who says who holds a point, a device or a branch.
func (c *Client) Who(ctx context.Context, path string) (w answer.Who, err error) {
	return w, c.get(ctx, "control/who", url.Values{"path": {path}}, &w)
}

// Held lists the commands of a requester, such as "person:ada"; of all for "".
func (c *Client) Held(ctx context.Context, requester string) (s answer.Slots, err error) {
	params := url.Values{}
	set(params, "requester", requester)
	return s, c.get(ctx, "control/held", params, &s)
}

// Overrides lists the points that were taken out of control.
func (c *Client) Overrides(ctx context.Context) (h answer.Holders, err error) {
	return h, c.get(ctx, "control/overrides", nil, &h)
}

// Override takes points out of control.
func (c *Client) Override(ctx context.Context, o answer.NewOverride) (d answer.Decided, err error) {
	return d, c.exchange(ctx, "POST control/overrides", nil, o, &d)
}

// ClearOverride ends an override, by exactly its pattern.
func (c *Client) ClearOverride(ctx context.Context, pattern string) (d answer.Decided, err error) {
	return d, c.exchange(ctx, http.MethodDelete+" control/overrides", url.Values{"pattern": {pattern}}, nil, &d)
}

// Waiting lists the commands that wait for a second person.
func (c *Client) Waiting(ctx context.Context) (s answer.Slots, err error) {
	return s, c.get(ctx, "control/waiting", nil, &s)
}

// Approve approves or refuses a command that waits.
func (c *Client) Approve(ctx context.Context, a answer.Approval) (d answer.Decided, err error) {
	return d, c.exchange(ctx, "POST control/waiting", nil, a, &d)
}
