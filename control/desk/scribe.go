package desk

import (
	"context"
	"log/slog"
	"time"

	"voltbus/point"
)

// Prefix is where what a point is commanded is recorded: below it, with the path of the point.
const Prefix point.Path = "control"

// The tags of those points.
const (
	SourceTag = "source" // is "control"
	OfTag     = "of"     // the point that is commanded
)

// scribe records what points are commanded, beside the goroutine of Run.
type scribe struct {
	record func(ctx context.Context, fresh []point.Info, samples []point.Sample) error
	log    *slog.Logger
	notes  chan note

	// Of the goroutine of Run.
	wished map[point.Path]point.Value // what was recorded last
	listed map[point.Path]bool        // what was described
	lost   uint64                     // turns that found no room
}

// note is what one turn has to record.
type note struct {
	infos   []point.Info
	samples []point.Sample
}

// notes is how many turns may wait to be recorded.
const notes = 256

func newScribe(record func(context.Context, []point.Info, []point.Sample) error, log *slog.Logger) scribe {
	return scribe{record: record, log: log, notes: make(chan note, notes), wished: make(map[point.Path]point.Value), listed: make(map[point.Path]bool)}
}

func (s *scribe) close() { close(s.notes) }

// begin has what was commanded before recorded once more, since nobody knows whether it was.
func (s *scribe) begin(d *Desk, t *turn) {
	if s.record == nil {
		return
	}
	paths := d.model.Commanded()
	for i := range t.events {
		paths = append(paths, t.events[i].Path)
	}
	for _, path := range paths {
		s.wished[path] = point.TextOf("")
	}
	s.write(d, t.now.Wall, paths)
}

// note records the points whose wish has changed in a turn.
func (s *scribe) note(d *Desk, t *turn) {
	if s.record == nil || len(t.events) == 0 {
		return
	}
	paths := make([]point.Path, len(t.events))
	for i := range t.events {
		paths[i] = t.events[i].Path
	}
	s.write(d, t.now.Wall, paths)
}

// write hands over what has changed. Requests do not wait for it: what finds no room is recorded when the
// point changes again, and the audit log has it in any case.
func (s *scribe) write(d *Desk, now time.Time, paths []point.Path) {
	var n note
	changed := make(map[point.Path]point.Value)
	for _, path := range paths {
		p, known := d.points[path]
		if !known {
			continue
		}
		view, _ := d.model.View(path)
		before, recorded := s.wished[path]
		if _, twice := changed[path]; twice || recorded && before == view.Wish || !recorded && view.Wish.Kind() == point.None {
			continue
		}
		changed[path] = view.Wish
		n.add(&p, view.Wish, now, !s.listed[path])
	}
	if len(n.samples) == 0 {
		return
	}
	select {
	case s.notes <- n:
		for path, v := range changed {
			s.wished[path], s.listed[path] = v, true
		}
	default:
		if s.lost++; s.lost&(s.lost-1) == 0 {
			s.log.Warn("commands are not recorded as samples, too many wait; the audit log has them", slog.Uint64("times", s.lost))
		}
	}
}

// add notes what a point is commanded now; nothing when it was released.
func (n *note) add(p *Point, v point.Value, now time.Time, fresh bool) {
	path := Prefix.Join(string(p.Point))
	if fresh {
		n.infos = append(n.infos, point.Info{
			Path: path, Kind: p.Kind, Unit: p.Unit, Description: "What " + string(p.Point) + " is commanded",
			Tags: map[string]string{SourceTag: "control", OfTag: string(p.Point)},
		})
	}
	sample := point.Sample{Point: path, Time: now.UTC(), Value: v}
	if v.Kind() == point.None {
		sample.Quality = point.Bad
	}
	n.samples = append(n.samples, sample)
}

// run records until the scribe is closed. What cannot be recorded now is tried again a few times; the
// audit log has it in any case.
func (s *scribe) run(ctx context.Context) {
	for n := range s.notes {
		err := s.keep(ctx, n)
		for pause := time.Second; err != nil && ctx.Err() == nil && pause <= 4*time.Second; pause *= 2 {
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
				err = s.keep(ctx, n)
			case <-ctx.Done():
				timer.Stop()
			}
		}
		if err != nil {
			s.log.WarnContext(ctx, "commands are not recorded as samples; the audit log has them", slog.Int("samples", len(n.samples)), slog.Any("err", err))
		}
	}
}

func (s *scribe) keep(ctx context.Context, n note) error { return s.record(ctx, n.infos, n.samples) }
