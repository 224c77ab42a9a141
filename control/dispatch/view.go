package dispatch

import (
	"context"
	"errors"
	"slices"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// Filter chooses points.
type Filter struct {
	Pattern point.Pattern // "" selects every point
	Busy    bool          // only those that are commanded, overridden or reverting
	After   point.Path    // only those after it
	Limit   int           // at most this many; 0 means 1,000
}

// reader answers read-only requests.
type reader struct {
	requests *requests
	loop     *loop
}

// View returns the state of a point: who holds it, until when and why, and what the device reports. NotFound
// for an unknown one; other errors are as for Command.
func (r *reader) View(ctx context.Context, path point.Path) (control.View, error) {
	known := false
	v, err := look(ctx, r.requests, func() (v control.View) {
		v, known = r.loop.view(path)
		return v
	})
	if err == nil && !known {
		err = fault.E("dispatch.View", fault.NotFound, string(path), errors.New("there is no such point; look it up in the list of points"))
	}
	return v, err
}

// Covers returns NotFound, with suggestions, for a pattern that selects no point; other errors are as for
// Command.
func (r *reader) Covers(ctx context.Context, pattern point.Pattern) error {
	missing, err := look(ctx, r.requests, func() *fault.Error { return r.loop.points.covering(pattern) })
	if err != nil || missing == nil {
		return err
	}
	return missing
}

// view returns the state of a point, with the last value that was read.
func (l *loop) view(path point.Path) (control.View, bool) {
	v, known := l.model.View(path)
	if seen, ok := l.values.Get(path); ok && known {
		v.Observed = seen
	}
	return v, known
}

// Views returns the state of points by path, and whether there are more. Errors are as for Command.
func (r *reader) Views(ctx context.Context, f Filter) (views []control.View, more bool, err error) {
	if f.Limit <= 0 {
		f.Limit = 1000
	}
	views, err = look(ctx, r.requests, func() (views []control.View) {
		begin, found := slices.BinarySearch(r.loop.points.sorted, f.After)
		if found {
			begin++
		}
		for _, path := range r.loop.points.sorted[begin:] {
			if f.Pattern != "" && !f.Pattern.Match(path) {
				continue
			}
			v, ok := r.loop.view(path)
			if !ok || f.Busy && len(v.Array)+len(v.Overrides) == 0 && !v.Reverting {
				continue
			}
			if len(views) == f.Limit {
				more = true
				return views
			}
			views = append(views, v)
		}
		return views
	})
	return views, more && err == nil, err
}

// Held returns the commands of a requester, oldest first; "" is everybody. Errors are as for Command.
func (r *reader) Held(ctx context.Context, requester string) ([]control.Slot, error) {
	return look(ctx, r.requests, func() []control.Slot { return r.loop.model.Held(requester) })
}

// Waiting returns the commands pending approval, oldest first. Errors are as for Command.
func (r *reader) Waiting(ctx context.Context) ([]control.Slot, error) {
	return look(ctx, r.requests, func() []control.Slot { return r.loop.model.Waiting() })
}

// Tasks returns the reservations, oldest first. Errors are as for Command.
func (r *reader) Tasks(ctx context.Context) ([]control.Task, error) {
	return look(ctx, r.requests, func() []control.Task { return r.loop.model.Tasks() })
}

// Overridden returns the overrides, oldest first. Errors are as for Command.
func (r *reader) Overridden(ctx context.Context) ([]control.Holder, error) {
	return look(ctx, r.requests, func() []control.Holder { return r.loop.model.Overridden() })
}
