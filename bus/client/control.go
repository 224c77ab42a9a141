package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

// Command sets a point. It holds its level until it is relinquished, or its lease ends.
type Command struct {
	Point  point.Path
	Value  point.Value
	Level  int           // 1, the most urgent, to 16; 0 for 16
	Lease  time.Duration // 0: until it is released
	Reason string        // for people
	Task   string        // the own reservation that it belongs to
	ID     string        // a repeat with the same one gets the first answer; "": the node chooses one
}

func (c *Command) request() answer.NewCommand {
	return answer.NewCommand{
		ID: c.ID, Point: string(c.Point), Value: c.Value.AppendJSON(nil), Level: c.Level, Lease: c.Lease.Seconds(),
		Reason: c.Reason, Task: c.Task,
	}
}

// Control commands points for an agent. Who holds what, releases and reservations are asked for with Do, by the declarations of package
// operation/control.
type Control struct{ calls *calls }

// Control returns what the agent commands points by.
func (c *Client) Control() *Control { return &Control{&c.calls} }

// Write has a command carried out, and waits for what the device says. The error is that of the result:
// what refused it, or why the device did not take it. With the status "failed" the device said no, for now or for
// good: the command is gone, and what was commanded before stays. With the status "accepted" the device was not reached, and the
// command is tried again while it holds. A command whose outcome does not come in time has the output "writing", and no error. One that a second
// person must approve has the status "pending".
func (c *Control) Write(ctx context.Context, command Command) (answer.Commanded, error) {
	results, err := c.WriteMany(ctx, []Command{command})
	if err != nil {
		return answer.Commanded{}, err
	}
	return results[0], FailedCommand(&results[0])
}

// WriteMany is Write for up to 10,000 commands at once, each with a result of its own, in order; see
// FailedCommand. The error says that it is not known what became of them: Write them again, with the same
// identifiers if they have some.
func (c *Control) WriteMany(ctx context.Context, commands []Command) ([]answer.Commanded, error) {
	wait := c.patience(ctx).Seconds()
	in := answer.NewCommands{Commands: make([]answer.NewCommand, len(commands)), Wait: &wait}
	for i := range commands {
		in.Commands[i] = commands[i].request()
	}
	var out answer.CommandResults
	body := append(in.AppendJSON([]byte(`{"kwargs":`)), '}')
	err := c.calls.callWith(ctx, wire.NodeName, "set_many", &out, body)
	return out.Results, err
}

// patience is how long the node is to wait for devices, so that its answer comes in time.
func (c *Control) patience(ctx context.Context) time.Duration {
	longest := c.calls.link.opts.Timeout
	if end, bounded := ctx.Deadline(); bounded {
		longest = time.Until(end)
	}
	return max(0, min(longest/2, 30*time.Second))
}

// FailedCommand returns why a command was refused or not carried out, as a fault; nil if neither.
// A *wire.Failure in the chain says why in one word, and who stands in the way.
func FailedCommand(r *answer.Commanded) error {
	if r.Error == nil {
		return nil
	}
	f := &wire.Failure{Kind: r.Error.Kind, Message: r.Error.Message, Subject: r.Point, Missing: r.Error.Missing, Why: r.Error.Why}
	if len(r.Error.Holders) > 0 {
		f.Holders, _ = json.Marshal(r.Error.Holders) // texts and numbers
	}
	return failureError(wire.NodeName, "set", f)
}

var errLease = errors.New("a command that is held needs a lease of a second at least, so that it ends if this program does")

// Hold has a command with a lease carried out, renews the lease while work runs, and releases the command
// when work returns. The context of work ends when the lease is lost; Hold then returns why. A node that
// does not answer for a while is asked again, as long as the lease lasts.
func (c *Control) Hold(ctx context.Context, command Command, work func(ctx context.Context) error) error {
	if command.Lease < time.Second {
		return fault.E("client.Hold", fault.Invalid, string(command.Point), errLease)
	}
	done, err := c.Write(ctx, command)
	if err != nil && done.Status != "accepted" {
		return err
	}
	held, lose := context.WithCancelCause(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		c.renewing(held, done.ID, command.Lease, lose)
	}()
	err = work(held)
	lost := context.Cause(held)
	lose(nil)
	<-renewing
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.calls.link.opts.Timeout)
	defer cancel()
	released := c.calls.node(ending, "release", map[string]any{"id": done.ID}, nil)
	if fault.Is(released, fault.NotFound) { // it has ended already
		released = nil
	}
	if ctx.Err() == nil && lost != nil {
		return errors.Join(err, lost)
	}
	return errors.Join(err, released)
}

// renewing renews a lease until held ends, three times in its length.
func (c *Control) renewing(held context.Context, id string, lease time.Duration, lose context.CancelCauseFunc) {
	tick := time.NewTicker(lease / 3)
	defer tick.Stop()
	ends := time.Now().Add(lease)
	for {
		select {
		case <-held.Done():
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(held, lease/3)
		asked := time.Now()
		err := c.calls.node(ctx, "renew", map[string]any{"id": id}, nil)
		cancel()
		switch {
		case err == nil:
			ends = asked.Add(lease)
		case held.Err() != nil:
			return
		case fault.Is(err, fault.NotFound), fault.Is(err, fault.Refused), time.Now().After(ends):
			lose(err)
			return
		}
	}
}
