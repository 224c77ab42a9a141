package control

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"voltbus/point"
)

// Window is a device, point or subtree for a span of time; Until does not belong to it, so windows
// that touch do not overlap.
type Window struct {
	Path  point.Path `json:"path"`
	From  time.Time  `json:"from"`
	Until time.Time  `json:"until"`
}

// covers reports whether a path is a or lies below it.
func covers(a, path point.Path) bool {
	rest, found := strings.CutPrefix(string(path), string(a))
	return found && (rest == "" || rest[0] == '/')
}

// overlaps reports whether two windows share a path and a time.
func (w *Window) overlaps(other *Window) bool {
	return w.From.Before(other.Until) && other.From.Before(w.Until) &&
		(covers(w.Path, other.Path) || covers(other.Path, w.Path))
}

// window is one window of a task.
type window struct {
	Window
	task   *task
	active bool
	ends   time.Duration // on the steady clock, while active: it never lasts longer than it was to
	wall   alarm         // start, then end
	steady alarm         // end
	tell   alarm         // announcement
}

func (w *window) holder() Holder {
	return Holder{
		Requester: w.task.Requester, Task: w.task.Task, Path: w.Path,
		From: w.From, Until: w.Until, Reason: w.task.Reason,
	}
}

// ring starts or ends a window.
func (w *window) ring(m *Model) {
	if w.active || !m.now.Wall.Before(w.Until) {
		w.task.started = true // also if nobody looked meanwhile
		m.endWindow(w, CauseExpired)
		return
	}
	m.startWindow(w)
}

// announcer rings for the announcement of a window.
type announcer window

func (a *announcer) ring(m *Model) {
	w := (*window)(a)
	m.event(Event{Kind: WindowAnnounced, Holder: w.holder()})
	m.steady.set(&w.tell, a, int64(m.now.Steady+m.limits.Announce))
}

// calendar finds windows by path.
type calendar struct {
	at     map[point.Path][]*window // on exactly the path
	below  map[point.Path][]*window // on paths below it
	active map[point.Path][]*window // active, on exactly the path
	count  int
}

func newCalendar() calendar {
	return calendar{
		at: make(map[point.Path][]*window), below: make(map[point.Path][]*window),
		active: make(map[point.Path][]*window),
	}
}

func (c *calendar) add(w *window) {
	c.count++
	c.at[w.Path] = append(c.at[w.Path], w)
	for up := w.Path.Parent(); up != ""; up = up.Parent() {
		c.below[up] = append(c.below[up], w)
	}
}

func (c *calendar) remove(w *window) {
	c.count--
	drop(c.at, w.Path, w)
	drop(c.active, w.Path, w)
	for up := w.Path.Parent(); up != ""; up = up.Parent() {
		drop(c.below, up, w)
	}
}

func drop(lists map[point.Path][]*window, path point.Path, w *window) {
	list := lists[path]
	if i := slices.Index(list, w); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		delete(lists, path)
		return
	}
	lists[path] = list
}

// overlapping returns the windows that a new one overlaps, in the order of their start.
func (c *calendar) overlapping(now time.Time, wanted *Window) []*window {
	var found []*window
	look := func(list []*window) {
		for _, w := range list {
			there := w.Window
			if w.active && now.Before(there.From) { // the wall clock went back
				there.From = now
			}
			if wanted.overlaps(&there) {
				found = append(found, w)
			}
		}
	}
	look(c.below[wanted.Path])
	for path := wanted.Path; path != ""; path = path.Parent() {
		look(c.at[path])
	}
	slices.SortFunc(found, func(a, b *window) int {
		return cmp.Or(a.From.Compare(b.From), strings.Compare(string(a.Path), string(b.Path)), strings.Compare(a.task.Task, b.task.Task))
	})
	return found
}

// activeFor returns the active window that holds a point, or nil.
func (c *calendar) activeFor(p point.Path) *window {
	for path := p; path != ""; path = path.Parent() {
		if list := c.active[path]; len(list) > 0 {
			return list[0]
		}
	}
	return nil
}

// blocker returns an active window of another task that overlaps in place, or nil. It happens after a
// pre-emption.
func (c *calendar) blocker(w *window) *window {
	for _, list := range [][]*window{c.at[w.Path], c.below[w.Path]} {
		for _, other := range list {
			if other.active && other.task != w.task {
				return other
			}
		}
	}
	for path := w.Path.Parent(); path != ""; path = path.Parent() {
		for _, other := range c.active[path] {
			if other.task != w.task {
				return other
			}
		}
	}
	return nil
}
