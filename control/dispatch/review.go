package dispatch

import (
	"maps"
	"slices"

	"voltbus/control"
	"voltbus/point"
)

// Rights are what a requester still may do. Each returns nil if it may.
type Rights struct {
	Command func(path point.Path, level int, value point.Value) error
	Reserve func(path point.Path) error
}

// Dismiss has everything of a requester end soon, because it may not do anything any more. It does not
// wait, and can be called at any time.
func (d *Dispatcher) Dismiss(requester string) { d.review(requester, nil) }

// Review has end soon what a requester holds and may not hold any more: commands, also those that wait for
// approval, and reservations. It does not wait, and can be called at any time.
func (d *Dispatcher) Review(requester string, may Rights) { d.review(requester, &may) }

// Judge says what a requester may do, if it is one of those of whom it knows; no Rights for one that may
// not do anything any more.
type Judge func(requester string) (may *Rights, knows bool)

// ReviewAll is Review, or Dismiss, for everybody who holds something and of whom judge knows. It is called
// in the goroutine of Run.
func (d *Dispatcher) ReviewAll(judge Judge) {
	d.mu.Lock()
	d.judges = append(d.judges, judge)
	d.mu.Unlock()
	d.nudge()
}

func (d *Dispatcher) review(requester string, may *Rights) {
	d.mu.Lock()
	if before, known := d.reviews[requester]; !known || before != nil {
		d.reviews[requester] = may
	}
	d.mu.Unlock()
	d.nudge()
}

// nudge has the goroutine of Run look.
func (d *Dispatcher) nudge() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// reviewAll looks over what those hold whose rights changed.
func (d *Dispatcher) reviewAll(t *turn) {
	d.mu.Lock()
	reviews := d.reviews
	judges := d.judges
	d.reviews, d.judges = make(map[string]*Rights), nil
	d.mu.Unlock()
	for _, judge := range judges {
		for _, requester := range d.model.Requesters() {
			if may, knows := judge(requester); knows {
				reviews[requester] = may
			}
		}
	}
	for _, requester := range slices.Sorted(maps.Keys(reviews)) {
		if may := reviews[requester]; may == nil {
			d.leave(t, requester, control.CauseLeft, node)
		} else {
			d.reviewOne(t, requester, may)
		}
	}
}

// reviewOne ends what a requester may not hold any more.
func (d *Dispatcher) reviewOne(t *turn, requester string, may *Rights) {
	waiting := slices.DeleteFunc(d.model.Waiting(), func(s control.Slot) bool { return s.Requester != requester })
	for _, s := range append(d.model.Held(requester), waiting...) {
		if may.Command(s.Path, int(s.Level), s.Value) == nil {
			continue
		}
		decision := d.model.Release(t.now, requester, control.Selection{Command: s.Command}, node)
		d.notice(t, "release", string(s.Path), detail{ID: s.Command, Level: s.Level, Requester: requester}, &decision)
	}
	for _, task := range d.model.Tasks() {
		forbidden := func(w control.Window) bool { return may.Reserve(w.Path) != nil }
		if task.Requester != requester || !slices.ContainsFunc(task.Windows, forbidden) {
			continue
		}
		decision := d.model.Cancel(t.now, requester, task.Task, node)
		d.notice(t, "cancel", task.Task, detail{Requester: requester}, &decision)
	}
}

// notice notes what the node has ended because somebody may not hold it any more.
func (d *Dispatcher) notice(t *turn, action, subject string, x detail, decision *control.Decision) {
	t.entries = append(t.entries, entryOfRequest(node, "control."+action, subject, x, decision))
	t.add(node, decision.Effects, 0)
}
