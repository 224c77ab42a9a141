// Package admission decides which readings from outside are recorded: it refuses points that belong to a device, points outside a token's
// bounds, and too many new points. The rest is listed in the catalogue and passed to the recorder.
package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/point"
)

// Source is the tag, with its value, of points that entered here.
const (
	SourceTag = "source"
	Source    = "ingest"
)

// Catalogue lists points.
type Catalogue interface {
	// Places appends the owners of n points to dst.
	Places(dst []catalog.Place, n int, path func(i int) point.Path) []catalog.Place
	Upsert(ctx context.Context, infos []point.Info) error
	// Free counts the points that belong to no device.
	Free() int
}

// Recorder makes samples durable, as package recorder does.
type Recorder interface {
	Record(ctx context.Context, samples []point.Sample) error
}

// DefaultPoints is how many points without a device a node lists by default.
const DefaultPoints = 1_000_000

var errDevice = errors.New("belongs to a device of this node, which alone records it; choose another path")

// Admission decides about readings and forwards those that pass. It is safe for concurrent use.
type Admission struct {
	catalogue Catalogue
	recorder  Recorder
	points    int
	own       []point.Path // branches that only the node records

	listing sync.Mutex // one change of the catalogue at a time
	spare   sync.Pool  // of *[]catalog.Place
}

// New returns an admission that lists at most so many points without a device; 0 for DefaultPoints. own are
// branches that only the node records.
func New(c Catalogue, r Recorder, points int, own ...point.Path) *Admission {
	if points == 0 {
		points = DefaultPoints
	}
	return &Admission{catalogue: c, recorder: r, points: points, own: own, spare: sync.Pool{New: func() any { return new([]catalog.Place) }}}
}

// Record refuses readings that may not be recorded, removes them from the batch, and records the rest. under
// restricts the points; "" allows all. It fails like the recorder, and if the catalogue cannot be written;
// then it is unknown whether anything was recorded.
func (a *Admission) Record(ctx context.Context, b *ingest.Batch, under point.Path) error {
	b.Drop(a.checkOwn)
	if under != "" {
		b.Drop(func(s *point.Sample) error { return within(s.Point, under) })
	}
	if err := a.sift(ctx, b); err != nil {
		return err
	}
	if len(b.Samples) == 0 {
		return nil
	}
	return a.recorder.Record(ctx, b.Samples)
}

// RecordWhole records the batch if none of it must be refused. Otherwise the report lists the refusals,
// nothing is recorded, and none of its points is listed. It fails like Record.
func (a *Admission) RecordWhole(ctx context.Context, b *ingest.Batch) error {
	before := b.Refused
	b.Drop(a.checkOwn)
	found := a.look(b)
	defer a.done(found)
	switch {
	case len(found.fresh) > a.points-a.catalogue.Free():
		b.Drop(a.check)
	case found.devices:
		b.Drop(a.checkDevice)
	}
	if b.Refused > before {
		return nil
	}
	if err := a.sift(ctx, b); err != nil {
		return err
	}
	if b.Refused > before || len(b.Samples) == 0 {
		return nil
	}
	return a.recorder.Record(ctx, b.Samples)
}

// sift removes readings that may not be recorded, and lists the points of the rest.
func (a *Admission) sift(ctx context.Context, b *ingest.Batch) error {
	found := a.look(b)
	defer a.done(found)
	full := false
	if len(found.fresh) > 0 {
		var err error
		if full, err = a.list(ctx, b); err != nil {
			return err
		}
	}
	if found.devices || full {
		b.Drop(a.check)
	}
	return nil
}

// list adds the new points of a batch to the catalogue, as many as there is room for; full reports that there
// was not room for all.
func (a *Admission) list(ctx context.Context, b *ingest.Batch) (full bool, err error) {
	a.listing.Lock()
	defer a.listing.Unlock()
	found := a.look(b) // other calls may have listed some meanwhile
	defer a.done(found)
	fresh := found.fresh
	if room := max(0, a.points-a.catalogue.Free()); len(fresh) > room {
		fresh, full = fresh[:room], true
	}
	if len(fresh) == 0 {
		return full, nil
	}
	return full, a.catalogue.Upsert(ctx, fresh)
}

// within reports an error unless p is at or below the folder.
func within(p, folder point.Path) error {
	if below(p, folder) {
		return nil
	}
	return fault.E("admission.Record", fault.Refused, string(p), fmt.Errorf("whoever sends this may record below %q only", folder))
}

// below reports whether p is at or below the folder.
func below(p, folder point.Path) bool {
	rest, ok := strings.CutPrefix(string(p), string(folder))
	return ok && (rest == "" || rest[0] == '/')
}

// checkOwn reports an error if only the node records the point.
func (a *Admission) checkOwn(s *point.Sample) error {
	for _, own := range a.own {
		if below(s.Point, own) {
			return fault.E("admission.Record", fault.Refused, string(s.Point), fmt.Errorf(
				"the node itself records what lies below %q; choose another path", own))
		}
	}
	return nil
}

// findings are what the catalogue knows about a batch.
type findings struct {
	places  *[]catalog.Place // of its samples
	fresh   []point.Info     // unlisted points, each once
	devices bool             // whether any belongs to a device
}

// source returns the tags of points that entered here.
var source = map[string]string{SourceTag: Source} //nolint:gochecknoglobals // never changed

// look determines the owners of a batch's points. done returns its memory.
func (a *Admission) look(b *ingest.Batch) findings {
	f := findings{places: a.spare.Get().(*[]catalog.Place)}
	*f.places = a.catalogue.Places((*f.places)[:0], len(b.Samples), func(i int) point.Path { return b.Samples[i].Point })
	var seen map[point.Path]bool
	for i, place := range *f.places {
		s := &b.Samples[i]
		switch place {
		case catalog.Outside:
		case catalog.OfDevice:
			f.devices = true
		case catalog.Unlisted:
			if seen == nil {
				seen = make(map[point.Path]bool, len(b.Samples)-i)
			}
			if !seen[s.Point] {
				seen[s.Point] = true
				f.fresh = append(f.fresh, point.Info{Path: s.Point, Kind: s.Value.Kind(), Unit: b.Units[s.Point], Tags: source})
			}
		}
	}
	return f
}

func (a *Admission) done(f findings) { a.spare.Put(f.places) }

// place returns the owner of a point.
func (a *Admission) place(p point.Path) catalog.Place {
	var one [1]catalog.Place
	return a.catalogue.Places(one[:0], 1, func(int) point.Path { return p })[0]
}

// checkDevice returns why a sample may not be recorded, if its point belongs to a device.
func (a *Admission) checkDevice(s *point.Sample) error {
	if a.place(s.Point) == catalog.OfDevice {
		return fault.E("admission.Record", fault.Refused, string(s.Point), errDevice)
	}
	return nil
}

// check returns why a sample may not be recorded.
func (a *Admission) check(s *point.Sample) error {
	switch a.place(s.Point) {
	case catalog.Outside:
		return nil
	case catalog.OfDevice:
		return fault.E("admission.Record", fault.Refused, string(s.Point), errDevice)
	case catalog.Unlisted:
	}
	return fault.E("admission.Record", fault.Unavailable, string(s.Point), fmt.Errorf(
		"this node lists %d points without a device, which is all that it may; name points by what they are, not by what they say", a.points))
}
