package catalog

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"voltbus/catalog/register"
	"voltbus/fault"
	"voltbus/point"
)

// Points is the node's knowledge of points: in memory, for reading, and in the file.
type Points struct {
	register *register.Register
	kept     *pointFile
}

// Entry is a point as the catalogue knows it.
type Entry = register.Entry

// Maximum lengths that the catalogue accepts; a device may send anything.
const (
	maxUnit        = 64
	maxDescription = 1024
	maxTags        = 64
	maxTag         = 256
)

// Upsert adds points, or changes existing ones, in one transaction. A removed point exists again. After an
// error nothing has changed.
func (ps *Points) Upsert(ctx context.Context, infos []point.Info) error {
	const op = "catalog.Upsert"
	if err := check(op, infos, nil); err != nil {
		return err
	}
	return ps.change(ctx, op, func(d *draft) { d.upsert(infos, nil) })
}

// Adopt adds unknown points, in one transaction. Known ones, including removed ones, are unchanged. After an error
// nothing has changed.
func (ps *Points) Adopt(ctx context.Context, infos []point.Info) error {
	const op = "catalog.Adopt"
	if err := check(op, infos, nil); err != nil {
		return err
	}
	return ps.change(ctx, op, func(d *draft) {
		for i := range infos {
			if _, known := d.find(string(infos[i].Path)); !known {
				d.add(register.RecordOf(&infos[i], d.tags.Text(infos[i].Tags), d.now))
			}
		}
	})
}

// Remove marks the points as removed. Their samples stay. Unknown paths are no error.
func (ps *Points) Remove(ctx context.Context, paths []point.Path) error {
	return ps.change(ctx, "catalog.Remove", func(d *draft) {
		for _, p := range paths {
			d.remove(string(p))
		}
	})
}

// change drafts changes and writes them in one transaction.
func (ps *Points) change(ctx context.Context, op string, write func(*draft)) error {
	ps.kept.writing.Lock()
	defer ps.kept.writing.Unlock()
	d := draft{points: ps.register, now: micros(ps.kept.now()), place: map[string]int{}}
	write(&d)
	return wrap(op, File, ps.kept.put(ctx, d.records, d.known))
}

// draft holds the changes: records of new and changed points, each once.
type draft struct {
	points  *register.Register
	now     int64
	tags    register.Tagger
	records []register.Record
	known   []uint32       // numbers of those that are not new
	place   map[string]int // in records, by path
	found   uint32         // the number last found by find in the register
	is      bool           // whether it found one there
}

// find returns the state of a point with the changes drafted so far.
func (d *draft) find(path string) (register.Record, bool) {
	if at, drafted := d.place[path]; drafted {
		return d.records[at], true
	}
	var n uint32
	if n, d.is = d.points.Find(path, d.found+1); !d.is {
		return register.Record{}, false
	}
	d.found = n
	return d.points.Record(n), true
}

// add drafts the record of the point last passed to find.
func (d *draft) add(r register.Record) {
	if at, drafted := d.place[r.Path]; drafted {
		d.records[at] = r
		return
	}
	if d.is {
		d.known = append(d.known, d.found)
	}
	d.place[r.Path] = len(d.records)
	d.records = append(d.records, r)
}

// upsert adds points or changes them; own, if given, sets their owner, and tells which stay unchanged.
func (d *draft) upsert(infos []point.Info, own func(*register.Record) bool) {
	for i := range infos {
		r := register.RecordOf(&infos[i], d.tags.Text(infos[i].Tags), d.now)
		old, known := d.find(r.Path)
		if known {
			r.FirstSeen, r.Since, r.Child = old.FirstSeen, old.Since, old.Child
			if !isBare(&old) && (old.Removed != 0 || old.Interval != r.Interval) {
				r.Since = d.now
			}
		}
		if own != nil && !own(&r) {
			continue
		}
		if !known || r != old {
			d.add(r)
		}
	}
}

func (d *draft) remove(path string) {
	if r, known := d.find(path); known && r.Removed == 0 {
		r.Removed = d.now
		d.add(r)
	}
}

// check reports which points the catalogue does not accept, including by a rule, if given.
func check(op string, infos []point.Info, also func(*point.Info) error) error {
	for i := range infos {
		err := validate(&infos[i])
		if err == nil && also != nil {
			err = also(&infos[i])
		}
		if err != nil {
			return fault.E(op, fault.Invalid, string(infos[i].Path), err)
		}
	}
	return nil
}

func validate(p *point.Info) error {
	switch err := p.Path.Validate(); {
	case err != nil:
		return err
	case len(p.Unit) > maxUnit:
		return fmt.Errorf("the unit has more than %d bytes", maxUnit)
	case len(p.Description) > maxDescription:
		return fmt.Errorf("the description has more than %d bytes", maxDescription)
	case len(p.Tags) > maxTags:
		return fmt.Errorf("there are more than %d tags", maxTags)
	case p.Interval < 0:
		return fmt.Errorf("the interval %v is negative", p.Interval)
	}
	for k, v := range p.Tags {
		if k == "" || len(k)+len(v) > maxTag {
			return fmt.Errorf("the tag %.32q needs a name, and at most %d bytes with its value", k, maxTag)
		}
	}
	return nil
}

func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}
