// Package gate decides which readings from outside are recorded: not those of points that belong to
// a device, not those out of a token's bounds, and not those of ever new points. What passes is
// listed in the catalogue and handed to the recorder.
package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/point"
)

// Source is the tag, and its value, of the points that entered here.
const (
	SourceTag = "source"
	Source    = "ingest"
)

// Catalogue is where points are listed.
type Catalogue interface {
	Entries(ctx context.Context, paths []point.Path) ([]catalog.Entry, error)
	Upsert(ctx context.Context, infos []point.Info) error
	// Free counts the points that belong to no device.
	Free(ctx context.Context) (int, error)
}

// Recorder makes samples durable, as package recorder does.
type Recorder interface {
	Record(ctx context.Context, samples []point.Sample) error
}

// DefaultPoints is how many points without a device a node lists if nothing else is said.
const DefaultPoints = 1_000_000

var errDevice = errors.New("belongs to a device of this node, which alone records it; choose another path")

// Gate lets readings in. It is safe for concurrent use.
type Gate struct {
	catalogue Catalogue
	recorder  Recorder
	points    int
	own       []point.Path // branches that the node alone records

	listing sync.Mutex // one change of the catalogue at a time
	mu      sync.RWMutex
	known   map[point.Path]owner // bounded by what the catalogue lists
	epoch   uint64               // counts calls of Forget
}

// owner says whose a point is.
type owner uint8

const (
	unknown owner = iota
	outside
	device
)

// New returns a gate that lists at most so many points without a device; 0 for DefaultPoints. own are
// branches that the node alone records.
func New(c Catalogue, r Recorder, points int, own ...point.Path) *Gate {
	if points == 0 {
		points = DefaultPoints
	}
	return &Gate{catalogue: c, recorder: r, points: points, own: own, known: map[point.Path]owner{}}
}

// Forget makes the gate look anew whose each point is. Call it after devices changed.
func (g *Gate) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known = map[point.Path]owner{}
	g.epoch++
}

// Record refuses what may not be recorded, takes it out of the batch, and records the rest. under
// bounds the points; "" is all. It fails as the recorder does, and if the catalogue cannot be
// written; then nothing is known to be recorded.
func (g *Gate) Record(ctx context.Context, b *ingest.Batch, under point.Path) error {
	b.Drop(g.checkOwn)
	if under != "" {
		b.Drop(func(s *point.Sample) error { return within(s.Point, under) })
	}
	if err := g.sift(ctx, b); err != nil {
		return err
	}
	if len(b.Samples) == 0 {
		return nil
	}
	return g.recorder.Record(ctx, b.Samples)
}

// RecordWhole records the batch if nothing of it must be refused. Otherwise the report says what
// must, nothing is recorded, and none of its points is listed. It fails as Record does.
func (g *Gate) RecordWhole(ctx context.Context, b *ingest.Batch) error {
	before := b.Refused
	b.Drop(g.checkOwn)
	if err := g.foresee(ctx, b); err != nil || b.Refused > before {
		return err
	}
	if err := g.sift(ctx, b); err != nil {
		return err
	}
	if b.Refused > before || len(b.Samples) == 0 {
		return nil
	}
	return g.recorder.Record(ctx, b.Samples)
}

// foresee takes out what sift would, without listing anything.
func (g *Gate) foresee(ctx context.Context, b *ingest.Batch) error {
	infos, devices := g.sort(b)
	room := true
	if len(infos) > 0 {
		infos, epoch := g.stillUnknown(infos)
		found, fresh, err := g.look(ctx, infos)
		if err != nil {
			return err
		}
		if len(fresh) > 0 {
			n, err := g.catalogue.Free(ctx)
			if err != nil {
				return err
			}
			room = len(fresh) <= g.points-n
		}
		g.remember(found, epoch)
		_, devices = g.sort(b)
	}
	switch {
	case !room:
		b.Drop(g.check)
	case devices:
		b.Drop(g.checkDevice)
	}
	return nil
}

// sift takes out what may not be recorded, and lists the points of the rest.
func (g *Gate) sift(ctx context.Context, b *ingest.Batch) error {
	infos, devices := g.sort(b)
	full := false
	for len(infos) > 0 && !full {
		settled, err := g.admit(ctx, infos)
		if err != nil {
			return err
		}
		infos, devices = g.sort(b)
		full = settled && len(infos) > 0
	}
	if devices || full {
		b.Drop(g.check)
	}
	return nil
}

// within reports an error unless p is the folder or below it.
func within(p, folder point.Path) error {
	if below(p, folder) {
		return nil
	}
	return fault.E("gate.Record", fault.Refused, string(p), fmt.Errorf("this token may record below %q only", folder))
}

// below reports whether p is the folder or below it.
func below(p, folder point.Path) bool {
	rest, ok := strings.CutPrefix(string(p), string(folder))
	return ok && (rest == "" || rest[0] == '/')
}

// checkOwn reports an error if the node alone records the point.
func (g *Gate) checkOwn(s *point.Sample) error {
	for _, own := range g.own {
		if below(s.Point, own) {
			return fault.E("gate.Record", fault.Refused, string(s.Point), fmt.Errorf(
				"the node itself records what lies below %q; choose another path", own))
		}
	}
	return nil
}

// sort returns what describes the points that are not known, and whether any belongs to a device.
func (g *Gate) sort(b *ingest.Batch) (infos []point.Info, devices bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var seen map[point.Path]bool
	for i := range b.Samples {
		s := &b.Samples[i]
		switch g.known[s.Point] {
		case outside:
		case device:
			devices = true
		case unknown:
			if seen[s.Point] {
				continue
			}
			if seen == nil {
				seen = map[point.Path]bool{}
			}
			seen[s.Point] = true
			infos = append(infos, point.Info{
				Path: s.Point, Kind: s.Value.Kind(), Unit: b.Units[s.Point], Tags: map[string]string{SourceTag: Source},
			})
		}
	}
	return infos, devices
}

// checkDevice returns why a sample may not be recorded, if its point belongs to a device.
func (g *Gate) checkDevice(s *point.Sample) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.known[s.Point] == device {
		return fault.E("gate.Record", fault.Refused, string(s.Point), errDevice)
	}
	return nil
}

// check returns why a sample may not be recorded.
func (g *Gate) check(s *point.Sample) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	switch g.known[s.Point] {
	case outside:
		return nil
	case device:
		return fault.E("gate.Record", fault.Refused, string(s.Point), errDevice)
	case unknown:
	}
	return fault.E("gate.Record", fault.Unavailable, string(s.Point), fmt.Errorf(
		"this node lists %d points without a device, which is all that it may; name points by what they are, not by what they say", g.points))
}

// admit finds out whose the points are and lists those that are new, as many as there is room for.
// It returns false if devices changed meanwhile, so that it must be asked again.
func (g *Gate) admit(ctx context.Context, infos []point.Info) (settled bool, err error) {
	g.listing.Lock()
	defer g.listing.Unlock()
	infos, epoch := g.stillUnknown(infos)
	if len(infos) == 0 {
		return true, nil
	}
	found, fresh, err := g.look(ctx, infos)
	if err != nil {
		return false, err
	}
	if fresh, err = g.list(ctx, fresh); err != nil {
		return false, err
	}
	for i := range fresh {
		found[fresh[i].Path] = outside
	}
	return g.remember(found, epoch), nil
}

// look finds out whose points are, and which are new.
func (g *Gate) look(ctx context.Context, infos []point.Info) (found map[point.Path]owner, fresh []point.Info, err error) {
	paths := make([]point.Path, len(infos))
	for i := range infos {
		paths[i] = infos[i].Path
	}
	entries, err := g.catalogue.Entries(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	found = make(map[point.Path]owner, len(infos))
	for i := range entries {
		switch e := &entries[i]; {
		case e.FirstSeen.IsZero() || !e.Removed.IsZero():
			fresh = append(fresh, infos[i])
		case e.Device != "":
			found[e.Path] = device
		default:
			found[e.Path] = outside
		}
	}
	return found, fresh, nil
}

// stillUnknown leaves out the points that others asked about meanwhile.
func (g *Gate) stillUnknown(infos []point.Info) ([]point.Info, uint64) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.DeleteFunc(infos, func(p point.Info) bool { return g.known[p.Path] != unknown }), g.epoch
}

// list puts new points into the catalogue, as many as there is room for, and returns them.
func (g *Gate) list(ctx context.Context, fresh []point.Info) ([]point.Info, error) {
	if len(fresh) == 0 {
		return nil, nil
	}
	n, err := g.catalogue.Free(ctx)
	if err != nil {
		return nil, err
	}
	fresh = fresh[:max(0, min(len(fresh), g.points-n))]
	if len(fresh) == 0 {
		return nil, nil
	}
	return fresh, g.catalogue.Upsert(ctx, fresh)
}

// remember keeps what was found out, unless devices changed since the epoch.
func (g *Gate) remember(found map[point.Path]owner, epoch uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.epoch != epoch {
		return false
	}
	maps.Copy(g.known, found)
	return true
}
