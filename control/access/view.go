package access

import (
	"context"
	"slices"

	"voltbus/api/answer"
	"voltbus/control/dispatch"
	"voltbus/fault"
	"voltbus/point"
)

// Filter chooses points.
type Filter = dispatch.Filter

// Points returns the state of points by path.
func (a *Access) Points(ctx context.Context, f Filter) (answer.ControlPoints, error) {
	views, more, err := a.cfg.Dispatcher.Views(ctx, f)
	if err != nil {
		return answer.ControlPoints{}, err
	}
	out := answer.ControlPoints{Points: make([]answer.ControlPoint, len(views))}
	for i := range views {
		out.Points[i] = viewed(&views[i])
	}
	if more {
		out.Next = out.Points[len(views)-1].Point
	}
	return out, nil
}

// Who reports who controls a point, a device or a branch, until when and why.
func (a *Access) Who(ctx context.Context, who *Who, path point.Path) (answer.Who, error) {
	if err := path.Validate(); err != nil {
		return answer.Who{}, fault.E("access.Who", fault.Invalid, "path", err)
	}
	if err := who.See(path); err != nil {
		return answer.Who{}, err
	}
	page, err := a.Points(ctx, Filter{Pattern: point.Pattern(path), Busy: true})
	if err != nil {
		return answer.Who{}, err
	}
	if len(page.Points) == 0 {
		if v, err := a.cfg.Dispatcher.View(ctx, path); err == nil {
			page.Points = append(page.Points, viewed(&v))
		} else if !fault.Is(err, fault.NotFound) {
			return answer.Who{}, err
		} else if err := a.cfg.Dispatcher.Covers(ctx, point.Pattern(path)); err != nil {
			return answer.Who{}, a.places().explain(who, path, err)
		}
	}
	tasks, err := a.Tasks(ctx, &Who{See: func(point.Path) error { return nil }}, path, a.cfg.Now(), a.cfg.Now().AddDate(100, 0, 0))
	if err != nil {
		return answer.Who{}, err
	}
	all, err := a.cfg.Dispatcher.Overridden(ctx)
	if err != nil {
		return answer.Who{}, err
	}
	out := answer.Who{Points: page.Points, Tasks: tasks.Tasks, Overrides: []answer.Holder{}, Next: page.Next}
	for i := range all {
		pattern := point.Pattern(all[i].Path)
		if pattern.Match(path) || covers(path, all[i].Path) || holdsOne(page.Points, string(all[i].Path)) {
			out.Overrides = append(out.Overrides, holder(&all[i]))
		}
	}
	return out, nil
}

// holdsOne reports whether an override covers one of the points.
func holdsOne(points []answer.ControlPoint, pattern string) bool {
	return slices.ContainsFunc(points, func(p answer.ControlPoint) bool {
		return slices.ContainsFunc(p.Overrides, func(h answer.Holder) bool { return h.Path == pattern })
	})
}

// Watcher receives the events of control.
type Watcher struct {
	a *Access
	w *dispatch.Watcher
}

const watched = 256 // turns of the dispatcher that may be pending for a watcher

// Watch returns a watcher that receives events from now on. Close it after use.
func (a *Access) Watch() *Watcher { return &Watcher{a: a, w: a.cfg.Dispatcher.Watch(watched)} }

// Close ends the watching.
func (w *Watcher) Close() { w.w.Close() }

// Dropped counts events that were lost because they were not received in time.
func (w *Watcher) Dropped() uint64 { return w.w.Dropped() }

// Next returns events, several at a time, until the watcher is closed.
func (w *Watcher) Next(ctx context.Context) ([]answer.ControlEvent, bool) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err() == nil
	case events, open := <-w.w.C:
		if !open {
			return nil, false
		}
		now, out := w.a.cfg.Now(), make([]answer.ControlEvent, len(events))
		for i := range events {
			out[i] = event(&events[i], now)
		}
		return out, true
	}
}
