package dispatch

import (
	"maps"
	"slices"
	"sync"

	"voltbus/control"
	"voltbus/point"
)

// Rights are the present rights of a requester. Each function returns nil if it may.
type Rights struct {
	Command func(path point.Path, level int, value point.Value) error
	Reserve func(path point.Path) error
}

// reviews records whose rights changed, or may have changed, since the goroutine of Run last checked. It is
// safe for concurrent use.
type reviews struct {
	kick chan struct{} // some rights changed, or a point that is commanded or that others depend on

	mu          sync.Mutex
	byRequester map[string]*Rights // requesters whose rights changed; nil: it has none
	judges      []Judge            // for those whose rights may have changed
}

func newReviews() *reviews {
	return &reviews{kick: make(chan struct{}, 1), byRequester: make(map[string]*Rights)}
}

// take returns the changes, and clears them.
func (r *reviews) take() (map[string]*Rights, []Judge) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed, judges := r.byRequester, r.judges
	r.byRequester, r.judges = make(map[string]*Rights), nil
	return changed, judges
}

// Dismiss soon ends everything of a requester that no longer has any rights. It does not wait, and can be
// called at any time.
func (r *reviews) Dismiss(requester string) { r.review(requester, nil) }

// Review soon ends what a requester holds without the right to: commands, including those pending approval,
// and reservations. It does not wait, and can be called at any time.
func (r *reviews) Review(requester string, may Rights) { r.review(requester, &may) }

// Judge returns the rights of a requester, if it is one that the judge knows; nil Rights for one that no
// longer has any.
type Judge func(requester string) (may *Rights, knows bool)

// ReviewAll is Review, or Dismiss, for everybody who holds something and whom judge knows. It is called in
// the goroutine of Run.
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

// nudge wakes the goroutine of Run.
func (r *reviews) nudge() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// reviewAll reviews the holders whose rights changed.
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

// reviewOne ends what a requester may no longer hold.
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
