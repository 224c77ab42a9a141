package reservation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/point"
)

// window is one window of a booking.
type window struct {
	control.Window
	booking  *booking
	active   bool
	ends     time.Duration // on the steady clock, while active: it never lasts longer than planned
	wall     step.Timer    // fires at the start, then at the end
	steady   step.Timer    // fires at the end
	announce step.Timer
}

func (w *window) holder() control.Holder {
	return control.Holder{
		Requester: w.booking.Requester, Task: w.booking.Task, Path: w.Path,
		From: w.From, Until: w.Until, Reason: w.booking.Reason,
	}
}

// Due starts or ends the window.
func (w *window) Due() {
	if w.active || !w.booking.register.step.Now.Wall.Before(w.Until) {
		w.booking.started = true // even if Advance was not called meanwhile
		w.end(control.CauseExpired)
		return
	}
	w.start()
}

// announcer owns the timer of the announcements of a window.
type announcer window

func (a *announcer) Due() {
	w := (*window)(a)
	s := w.booking.register.step
	s.Event(control.Event{Kind: control.WindowAnnounced, Holder: w.holder()})
	s.Steady.Set(&w.announce, a, int64(s.Now.Steady+s.Limits.Announce))
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

// overlapping returns the windows that a new one overlaps, in the order of their starts.
func (c *calendar) overlapping(now time.Time, wanted *control.Window) []*window {
	var found []*window
	look := func(list []*window) {
		for _, w := range list {
			there := w.Window
			if w.active && now.Before(there.From) { // the wall clock went back
				there.From = now
			}
			if wanted.Overlaps(&there) {
				found = append(found, w)
			}
		}
	}
	look(c.below[wanted.Path])
	for path := wanted.Path; path != ""; path = path.Parent() {
		look(c.at[path])
	}
	slices.SortFunc(found, func(a, b *window) int {
		return cmp.Or(a.From.Compare(b.From), strings.Compare(string(a.Path), string(b.Path)), strings.Compare(a.booking.Task, b.booking.Task))
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

// blocker returns an active window of another reservation that overlaps in path, or nil. This occurs after a
// pre-emption.
func (c *calendar) blocker(w *window) *window {
	for _, list := range [][]*window{c.at[w.Path], c.below[w.Path]} {
		for _, other := range list {
			if other.active && other.booking != w.booking {
				return other
			}
		}
	}
	for path := w.Path.Parent(); path != ""; path = path.Parent() {
		for _, other := range c.active[path] {
			if other.booking != w.booking {
				return other
			}
		}
	}
	return nil
}
