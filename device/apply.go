package device

import "voltbus/point"

// Apply makes devices the wanted set, before Run or while it runs. Devices whose configuration
// is the same keep their session, schedule and statistics, and miss no slot; changed ones are
// closed and opened anew; the others are closed. It does not wait for any driver. If anything is
// wrong it changes nothing and returns every problem as fault.Invalid, joined.
//
// A driver's configuration is the same if it is deeply equal. A changed device is opened only
// when its earlier session is closed.
func (f *Fleet) Apply(devices []Config) error {
	checked, err := check(devices)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase == ended {
		return nil
	}
	f.seats = f.seats.reseat(checked)
	units := make([]*unit, len(checked))
	byPath := make(map[point.Path]*unit, len(checked))
	for i, c := range checked {
		units[i] = f.unitFor(c, i)
		byPath[c.Path] = units[i]
	}
	for path, old := range f.byPath {
		if byPath[path] != old {
			old.retire()
		}
	}
	f.units, f.byPath = units, byPath
	f.assign()
	return nil
}

// unitFor returns the present unit if it can stay, else a new one.
func (f *Fleet) unitFor(c Config, order int) *unit {
	old := f.byPath[c.Path]
	place := f.seats[c.Path].place
	if old != nil && old.cfg.same(c) && old.schedule == newSchedule(c, place) {
		return old
	}
	u := newUnit(c, order, place)
	u.before = old
	if !c.Disabled {
		u.line = f.lineFor(c)
	}
	return u
}

// lineFor returns the line that a device belongs to.
func (f *Fleet) lineFor(c Config) *line {
	key := lineKey{kind: c.Kind.Name, name: c.lineName()}
	l := f.lines[key]
	if l == nil {
		l = f.newLine(key)
		f.lines[key] = l
		f.fresh = append(f.fresh, l)
		f.announce()
	}
	return l
}

// announce makes Run look for lines to start.
func (f *Fleet) announce() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// assign hands every line its devices.
func (f *Fleet) assign() {
	onLine := make(map[*line][]*unit, len(f.lines))
	for _, u := range f.units {
		if u.line != nil {
			onLine[u.line] = append(onLine[u.line], u)
		}
	}
	for _, l := range f.lines {
		l.box.want(onLine[l])
	}
}
