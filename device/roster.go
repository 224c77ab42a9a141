package device

import (
	"sync"

	"voltbus/device/acquisition"
	"voltbus/device/clock"
	"voltbus/device/line"
	"voltbus/device/schedule"
	"voltbus/point"
)

// roster holds the devices and their lines. It is safe for concurrent use.
type roster struct {
	newLine func(line.Key) *line.Line
	changed chan struct{} // there are lines to start, or one has ended

	mu     sync.Mutex
	phase  phase
	units  []*line.Device // in the order of the configuration; replaced, never modified
	byPath map[point.Path]*line.Device
	lines  map[line.Key]*line.Line
	fresh  []*line.Line // created, but not started
	places schedule.Places
}

// phase is the progress of the run.
type phase uint8

const (
	created phase = iota
	started
	ended
)

func newRoster(newLine func(line.Key) *line.Line) *roster {
	return &roster{
		newLine: newLine, changed: make(chan struct{}, 1),
		byPath: make(map[point.Path]*line.Device), lines: make(map[line.Key]*line.Line),
	}
}

// set replaces the wanted devices, which have been checked, and passes every line its own.
func (r *roster) set(devices []Config) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase == ended {
		return
	}
	r.places = r.places.Assign(acquisition.Members(devices))
	units := make([]*line.Device, len(devices))
	byPath := make(map[point.Path]*line.Device, len(devices))
	for i, c := range devices {
		units[i] = r.unitFor(c, i)
		byPath[c.Path] = units[i]
	}
	for path, old := range r.byPath {
		if byPath[path] != old {
			old.Retire()
		}
	}
	r.units, r.byPath = units, byPath
	r.assign()
}

// unitFor returns the present device if it can stay, otherwise a new one.
func (r *roster) unitFor(c Config, order int) *line.Device {
	old := r.byPath[c.Path]
	place := r.places.Of(c.Path)
	if old != nil && old.Keeps(c, place) {
		return old
	}
	var l *line.Line
	if !c.Disabled && !c.Elsewhere {
		l = r.lineFor(c)
	}
	return line.NewDevice(c, order, place, old, l)
}

// lineFor returns the line that a device belongs to.
func (r *roster) lineFor(c Config) *line.Line {
	key := line.Key{Kind: c.Kind.Name, Name: c.LineName()}
	l := r.lines[key]
	if l == nil {
		l = r.newLine(key)
		r.lines[key] = l
		r.fresh = append(r.fresh, l)
		r.announce()
	}
	return l
}

// closed reports whether a device is another replica's, and its last session here was closed.
func (r *roster) closed(device point.Path) bool {
	u := r.unitAt(device)
	return u == nil || u.Line() == nil && u.IsFree()
}

// announce makes Run check for lines to start.
func (r *roster) announce() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// assign passes every line its devices.
func (r *roster) assign() {
	onLine := make(map[*line.Line][]*line.Device, len(r.lines))
	for _, u := range r.units {
		if l := u.Line(); l != nil {
			onLine[l] = append(onLine[l], u)
		}
	}
	for _, l := range r.lines {
		l.Want(onLine[l])
	}
}

// enter begins the only run, and reports whether it is the first.
func (r *roster) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != created {
		return false
	}
	r.phase = started
	return true
}

// leaveAll refuses new requests, and answers pending ones, even on lines that are stuck.
func (r *roster) leaveAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase = ended
	for _, l := range r.lines {
		l.Close()
	}
}

// over reports whether the run has ended.
func (r *roster) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.phase == ended
}

// stuck returns the names of the lines whose goroutine is in a driver.
func (r *roster) stuck() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, l := range r.lines {
		if l.Busy() {
			names = append(names, l.Key.Name)
		}
	}
	return names
}

// takeFresh returns the lines to start.
func (r *roster) takeFresh() []*line.Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.fresh
	r.fresh = nil
	return fresh
}

// leave lets a line without devices end, unless it has just got new ones.
func (r *roster) leave(l *line.Line) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.CloseUnlessWanted() {
		return false
	}
	delete(r.lines, l.Key)
	return true
}

// nudgeAll makes the goroutine of every line check its mailbox and its timetable.
func (r *roster) nudgeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		l.Nudge()
	}
}

// hungLines returns the lines that are stuck.
func (r *roster) hungLines(now clock.Instant) []*line.Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []*line.Line
	for _, l := range r.lines {
		if _, hung := l.Hung(now); hung {
			lines = append(lines, l)
		}
	}
	return lines
}

// wantedUnits returns the devices in the order of the configuration.
func (r *roster) wantedUnits() []*line.Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.units
}

// unitAt returns the device at a path, or nil.
func (r *roster) unitAt(device point.Path) *line.Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byPath[device]
}

// pointAt returns the device that has the point, and the point's index there. Names of points may contain
// slashes, so every parent may be the device; the longest wins.
func (r *roster) pointAt(path point.Path) (*line.Device, int) {
	for device := path.Parent(); device != ""; device = device.Parent() {
		u := r.unitAt(device)
		if u == nil {
			continue
		}
		if i := u.Find(string(path[len(device)+1:])); i >= 0 {
			return u, i
		}
	}
	return nil, -1
}
