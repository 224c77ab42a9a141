package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/control"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

const maxWindows = 1000 // per request

// Reserve requests windows, all or none.
func (a *Access) Reserve(ctx context.Context, who *Who, in *answer.NewTask) (answer.Decided, error) {
	if len(in.Windows) > maxWindows {
		return answer.Decided{}, fault.E("access.Reserve", fault.Invalid, "windows", errTooMany(maxWindows))
	}
	if err := identifier(in.ID); err != nil {
		return answer.Decided{}, err
	}
	r := control.Reservation{ID: in.ID, Requester: who.Name, Task: in.Task, Priority: control.Priority(in.Priority), Reason: in.Reason}
	if r.Priority == "" {
		r.Priority = control.Low
	}
	for i := range in.Windows {
		w, err := a.window(&in.Windows[i], fmt.Sprintf("windows[%d]", i))
		if err != nil {
			return answer.Decided{}, err
		}
		if err := a.refuse(who, "control.reserve", string(w.Path), who.Reserve(w.Path)); err != nil {
			return answer.Decided{}, err
		}
		r.Windows = append(r.Windows, w)
	}
	d, err := a.cfg.Dispatcher.Reserve(ctx, r)
	if d.Err != nil {
		a.places().explainUnknown(who, point.Path(d.Err.Subject), &d)
	}
	return decided(d, err)
}

func (a *Access) window(in *answer.Window, at string) (w control.Window, err error) {
	w.Path = point.Path(in.Path)
	if err = w.Path.Validate(); err != nil {
		return w, fault.E("access.Reserve", fault.Invalid, at+".path", err)
	}
	if w.From, err = clock(at+".from", in.From, a.cfg.Now().UTC()); err != nil {
		return w, err
	}
	w.Until, err = clock(at+".to", in.To, time.Time{})
	return w, err
}

// Cancel ends a reservation.
func (a *Access) Cancel(ctx context.Context, who *Who, name string) (answer.Decided, error) {
	of, by := who.Name, ""
	if who.Manages {
		tasks, err := a.cfg.Dispatcher.Tasks(ctx)
		if err != nil {
			return answer.Decided{}, err
		}
		i := slices.IndexFunc(tasks, func(t control.Task) bool { return t.Task == name })
		if i >= 0 && tasks[i].Requester != who.Name {
			of, by = tasks[i].Requester, who.Name
		}
	}
	d, err := a.cfg.Dispatcher.Cancel(ctx, of, name, by)
	if d.Why == control.WhyUnknown && d.Err != nil {
		d.Err, _ = errors.AsType[*fault.Error](a.places().hint(who, d.Err))
	}
	return decided(d, err)
}

// Tasks lists the reservations with windows above, at or below a path, "" for every one, that overlap the period from ≤ t <
// to; a zero time is open. NotFound says that no point is at or below the path, and suggests what may be meant.
func (a *Access) Tasks(ctx context.Context, who *Who, path point.Path, from, to time.Time) (answer.Tasks, error) {
	list, err := a.cfg.Dispatcher.Tasks(ctx)
	if err != nil {
		return answer.Tasks{}, err
	}
	out := answer.Tasks{Tasks: []answer.Task{}}
	for i := range list {
		t := &list[i]
		if slices.ContainsFunc(t.Windows, func(w control.Window) bool {
			return near(path, w.Path) && (to.IsZero() || w.From.Before(to)) && (from.IsZero() || from.Before(w.Until)) && who.sees(w.Path)
		}) {
			out.Tasks = append(out.Tasks, task(t))
		}
	}
	if path != "" && len(out.Tasks) == 0 {
		if err := a.cfg.Dispatcher.Covers(ctx, point.Pattern(path)); err != nil {
			return answer.Tasks{}, a.places().explain(who, path, err)
		}
	}
	return out, nil
}

// sees reports whether the caller may see something at a path.
func (w *Who) sees(path point.Path) bool { return w.See(path) == nil }

// near reports whether one of two paths is at or below the other.
func near(a, b point.Path) bool { return a == "" || covers(a, b) || covers(b, a) }

func covers(a, path point.Path) bool {
	rest, found := strings.CutPrefix(string(path), string(a))
	return found && (rest == "" || rest[0] == '/')
}

// Override takes points out of control.
func (a *Access) Override(ctx context.Context, who *Who, in *answer.NewOverride) (answer.Decided, error) {
	length, err := seconds("length", in.Length)
	if err == nil {
		err = identifier(in.ID)
	}
	if err == nil {
		err = a.refuse(who, "control.override", clip(in.Pattern), who.Override(point.Pattern(in.Pattern)))
	}
	if err != nil {
		return answer.Decided{}, err
	}
	d, err := a.cfg.Dispatcher.Override(ctx, control.Override{
		ID: in.ID, Pattern: point.Pattern(in.Pattern), Requester: who.Name, Reason: in.Reason, Length: length, Failsafe: in.Failsafe,
	})
	a.places().explainUnknown(who, point.Path(in.Pattern), &d)
	return decided(d, err)
}

// ClearOverride ends an override, whoever started it.
func (a *Access) ClearOverride(ctx context.Context, who *Who, pattern point.Pattern) (answer.Decided, error) {
	if err := a.refuse(who, "control.override.clear", clip(string(pattern)), who.Override(pattern)); err != nil {
		return answer.Decided{}, err
	}
	d, err := a.cfg.Dispatcher.ClearOverride(ctx, pattern, who.Name)
	a.places().explainUnknown(who, point.Path(pattern), &d)
	return decided(d, err)
}

// Overrides lists the overrides of points visible to the caller.
func (a *Access) Overrides(ctx context.Context, who *Who) (answer.Holders, error) {
	list, err := a.cfg.Dispatcher.Overridden(ctx)
	list = slices.DeleteFunc(list, func(h control.Holder) bool { return !who.sees(h.Path) })
	return answer.Holders{Overrides: holders(list)}, err
}

var errAgree = errors.New("is missing; write true to approve, false to refuse")

var errSame = errors.New("it needs the approval of a second person, and an account of the same name at another node counts as the same person; have somebody else approve it")

// Approve decides a pending command on the word of another person. A person who may not give the command may
// not approve it, and nobody may approve a request made under their own name at another node.
func (a *Access) Approve(ctx context.Context, who *Who, in *answer.Approval) (answer.Decided, error) {
	if in.Agree == nil {
		return answer.Decided{}, fault.E("access.Approve", fault.Invalid, "agree", errAgree)
	}
	waiting, err := a.cfg.Dispatcher.Waiting(ctx)
	if err != nil {
		return answer.Decided{}, err
	}
	i := slices.IndexFunc(waiting, func(s control.Slot) bool { return s.Requester == in.Requester && s.Command == in.ID })
	if i >= 0 {
		s := &waiting[i]
		if err := a.refuse(who, "control.approve", string(s.Path), who.Command(s.Path, int(s.Level), s.Value)); err != nil {
			return answer.Decided{}, err
		}
	}
	if in.Requester != who.Name && identity.SamePerson(in.Requester, who.Name) {
		return answer.Decided{}, a.refuse(who, "control.approve", clip(in.Requester), fault.E("access.Approve", fault.Refused, clip(in.Requester), errSame))
	}
	return decided(a.cfg.Dispatcher.Approve(ctx, control.Approval{Requester: in.Requester, Command: in.ID, By: who.Name, Agree: *in.Agree}))
}

// Waiting lists the commands pending approval.
func (a *Access) Waiting(ctx context.Context) (answer.Slots, error) {
	list, err := a.cfg.Dispatcher.Waiting(ctx)
	return answer.Slots{Commands: slots(list)}, err
}

// Held lists the commands of a requester, of all for "", on points visible to the caller.
func (a *Access) Held(ctx context.Context, who *Who, requester string) (answer.Slots, error) {
	list, err := a.cfg.Dispatcher.Held(ctx, requester)
	list = slices.DeleteFunc(list, func(s control.Slot) bool { return s.Requester != who.Name && !who.sees(s.Path) })
	return answer.Slots{Commands: slots(list)}, err
}
