package dispatch

import (
	"maps"
	"slices"
	"sync"

	"voltbus/control"
	"voltbus/point"
)

// Rights are what a requester still may do. Each returns nil if it may.
type Rights struct {
	Command func(path point.Path, level int, value point.Value) error
	Reserve func(path point.Path) error
}

// reviews is whose rights changed, and may have changed, since the goroutine of Run looked. It is safe for
// concurrent use.
type reviews struct {
	kick chan struct{} // the rights of somebody changed, or a point that is commanded or that others depend on

	mu          sync.Mutex
	byRequester map[string]*Rights // requesters whose rights changed; nil: they have none
	judges      []Judge            // of those whose rights may have changed
}

func newReviews() *reviews {
	return &reviews{kick: make(chan struct{}, 1), byRequester: make(map[string]*Rights)}
}

// take returns what has changed, and forgets it.
func (r *reviews) take() (map[string]*Rights, []Judge) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed, judges := r.byRequester, r.judges
	r.byRequester, r.judges = make(map[string]*Rights), nil
	return changed, judges
}

// Dismiss has everything of a requester end soon, because it may not do anything any more. It does not
// wait, and can be called at any time.
func (r *reviews) Dismiss(requester string) { r.review(requester, nil) }

// Review has end soon what a requester holds and may not hold any more: commands, also those that wait for
// approval, and reservations. It does not wait, and can be called at any time.
func (r *reviews) Review(requester string, may Rights) { r.review(requester, &may) }

// Judge says what a requester may do, if it is one of those of whom it knows; no Rights for one that may
// not do anything any more.
type Judge func(requester string) (may *Rights, knows bool)

// ReviewAll is Review, or Dismiss, for everybody who holds something and of whom judge knows. It is called
// in the goroutine of Run.
func (r *reviews) ReviewAll(judge Judge) {
	r.mu.Lock()
	r.judges = append(r.judges, judge)
	r.mu.Unlock()
	r.nudge()
}

func (r *reviews) review(requester string, may *Rights) {
	r.mu.Lock()
	if before, known := r.byRequester[requester]; !known || before != nil {
		r.byRequester[requester] = may
	}
	r.mu.Unlock()
	r.nudge()
}

// nudge has the goroutine of Run look.
func (r *reviews) nudge() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// reviewAll looks over what those hold whose rights changed.
func (l *loop) reviewAll(t *turn) {
	changed, judges := l.reviews.take()
	for _, judge := range judges {
		for _, requester := range l.model.Requesters() {
			if may, knows := judge(requester); knows {
				changed[requester] = may
			}
		}
	}
	for _, requester := range slices.Sorted(maps.Keys(changed)) {
		if may := changed[requester]; may == nil {
			l.leave(t, requester, control.CauseLeft, node)
		} else {
			l.reviewOne(t, requester, may)
		}
	}
}

// reviewOne ends what a requester may not hold any more.
func (l *loop) reviewOne(t *turn, requester string, may *Rights) {
	waiting := slices.DeleteFunc(l.model.Waiting(), func(s control.Slot) bool { return s.Requester != requester })
	for _, s := range append(l.model.Held(requester), waiting...) {
		if may.Command(s.Path, int(s.Level), s.Value) == nil {
			continue
		}
		decision := l.model.Release(t.now, requester, control.Selection{Command: s.Command}, node)
		l.notice(t, "release", string(s.Path), detail{ID: s.Command, Level: s.Level, Requester: requester}, &decision)
	}
	for _, task := range l.model.Tasks() {
		forbidden := func(w control.Window) bool { return may.Reserve(w.Path) != nil }
		if task.Requester != requester || !slices.ContainsFunc(task.Windows, forbidden) {
			continue
		}
		decision := l.model.Cancel(t.now, requester, task.Task, node)
		l.notice(t, "cancel", task.Task, detail{Requester: requester}, &decision)
	}
}

// notice records what the node ended because its requester lost the right to it.
func (l *loop) notice(t *turn, action, subject string, x detail, decision *control.Decision) {
	t.entries = append(t.entries, entryOfRequest(node, "control."+action, subject, x, decision))
	t.add(node, decision.Effects, 0)
}
