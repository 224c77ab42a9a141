package term

import (
	"context"
	"sync/atomic"
	"time"

	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

// term is a dispatcher with the right to decide.
type term struct {
	*dispatch.Dispatcher
	hold context.Context //nolint:containedctx // it outlasts a request; nil on a node alone
}

// requests passes requests to the dispatcher of the present term. It is an access.Dispatcher.
type requests struct {
	current  atomic.Pointer[term]
	who      func() string // controls the devices; nil on a node alone
	watchers *dispatch.Watchers
}

// Elsewhere returns why requests are refused here; nil if this node controls the devices.
func (r *requests) Elsewhere() error {
	t := r.current.Load()
	if t != nil && (t.hold == nil || t.hold.Err() == nil) {
		return nil
	}
	err := errNobody
	if owner := r.who(); owner != "" && t == nil {
		err = errElsewhere(owner)
	}
	return fault.E("term.ask", fault.Unavailable, "", err)
}

// Where returns which replica controls the devices, "" for none, and whether it is this node.
func (r *requests) Where() (replica string, here bool) {
	if r.Elsewhere() == nil {
		return "", true
	}
	return r.who(), false
}

// ask has the present dispatcher answer.
func ask[T any](ctx context.Context, r *requests, question func(context.Context, *dispatch.Dispatcher) (T, error)) (answer T, err error) {
	if err := r.Elsewhere(); err != nil {
		return answer, err
	}
	t := r.current.Load()
	switch {
	case t == nil:
		return answer, fault.E("term.ask", fault.Unavailable, "", errNobody)
	case t.hold == nil:
		return question(ctx, t.Dispatcher)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.hold, cancel)() //nolint:contextcheck // the request ends with the term, too
	answer, err = question(ctx, t.Dispatcher)
	if err != nil && t.hold.Err() != nil {
		err = fault.E("term.ask", fault.Unavailable, "", errEnded)
	}
	return answer, err
}

func decide(ctx context.Context, r *requests, question func(context.Context, *dispatch.Dispatcher) (control.Decision, error)) (control.Decision, error) {
	return ask(ctx, r, question)
}

// The following methods are those of dispatch.Dispatcher.

func (r *requests) CommandMany(ctx context.Context, commands []control.Command, wait time.Duration) ([]dispatch.Result, error) {
	return ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) ([]dispatch.Result, error) {
		return d.CommandMany(ctx, commands, wait)
	})
}

func (r *requests) Read(ctx context.Context, paths []point.Path) []device.Reading {
	list, err := ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) ([]device.Reading, error) {
		return d.Read(ctx, paths), nil
	})
	if err == nil {
		return list
	}
	list = make([]device.Reading, len(paths))
	for i := range list {
		list[i].Err = err
	}
	return list
}

func (r *requests) Release(ctx context.Context, requester string, s control.Selection, by string) (control.Decision, error) {
	return decide(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (control.Decision, error) {
		return d.Release(ctx, requester, s, by)
	})
}

func (r *requests) Revert(ctx context.Context, what control.Reversion) (control.Decision, error) {
	return decide(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (control.Decision, error) {
		return d.Revert(ctx, what)
	})
}

func (r *requests) Renew(ctx context.Context, requester string, s control.Selection, length time.Duration) (control.Decision, error) {
	return decide(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (control.Decision, error) {
		return d.Renew(ctx, requester, s, length)
	})
}

func (r *requests) Leave(ctx context.Context, requester string, cause control.Cause, by string) error {
	_, err := ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (struct{}, error) {
		return struct{}{}, d.Leave(ctx, requester, cause, by)
	})
	return err
}

func (r *requests) Reserve(ctx context.Context, what control.Reservation) (control.Decision, error) {
	return decide(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (control.Decision, error) {
		return d.Reserve(ctx, what)
	})
}

func (r *requests) Cancel(ctx context.Context, requester, task, by string) (control.Decision, error) {
	return decide(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (control.Decision, error) {
		return d.Cancel(ctx, requester, task, by)
	})
}

func (r *requests) Override(ctx context.Context, o control.Override) (control.Decision, error) {
	return decide(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (control.Decision, error) { return d.Override(ctx, o) })
}

func (r *requests) ClearOverride(ctx context.Context, pattern point.Pattern, by string) (control.Decision, error) {
	return decide(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (control.Decision, error) {
		return d.ClearOverride(ctx, pattern, by)
	})
}

func (r *requests) Approve(ctx context.Context, a control.Approval) (control.Decision, error) {
	return decide(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (control.Decision, error) { return d.Approve(ctx, a) })
}

func (r *requests) View(ctx context.Context, path point.Path) (control.View, error) {
	return ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (control.View, error) { return d.View(ctx, path) })
}

func (r *requests) Covers(ctx context.Context, pattern point.Pattern) error {
	_, err := ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (struct{}, error) {
		return struct{}{}, d.Covers(ctx, pattern)
	})
	return err
}

func (r *requests) Views(ctx context.Context, f dispatch.Filter) (views []control.View, more bool, err error) {
	views, err = ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) (list []control.View, err error) {
		list, more, err = d.Views(ctx, f)
		return list, err
	})
	return views, more, err
}

func (r *requests) Held(ctx context.Context, requester string) ([]control.Slot, error) {
	return ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) ([]control.Slot, error) {
		return d.Held(ctx, requester)
	})
}

func (r *requests) Waiting(ctx context.Context) ([]control.Slot, error) {
	return ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) ([]control.Slot, error) { return d.Waiting(ctx) })
}

func (r *requests) Tasks(ctx context.Context) ([]control.Task, error) {
	return ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) ([]control.Task, error) { return d.Tasks(ctx) })
}

func (r *requests) Overridden(ctx context.Context) ([]control.Holder, error) {
	return ask(ctx, r, func(ctx context.Context, d *dispatch.Dispatcher) ([]control.Holder, error) { return d.Overridden(ctx) })
}

func (r *requests) Watch(buffer int) *dispatch.Watcher { return r.watchers.Add(max(buffer, 1)) }
