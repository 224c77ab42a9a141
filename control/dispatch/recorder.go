package dispatch

import (
	"context"
	"log/slog"
	"time"

	"voltbus/control"
	"voltbus/point"
)

// Prefix is where commanded values are recorded: below it, under the path of the point.
const Prefix point.Path = "control"

// LevelPrefix is where the level of the winning command is recorded, under the path of the point. It is a
// separate branch, so that it cannot be confused with the commanded value of a point called "level".
const LevelPrefix point.Path = "control-level"

// The tags of those points.
const (
	SourceTag = "source" // always "control"
	OfTag     = "of"     // the commanded point
)

// recorder records commanded values, concurrently with the goroutine of Run.
type recorder struct {
	record func(ctx context.Context, fresh []point.Info, samples []point.Sample) error
	log    *slog.Logger
	notes  chan note

	// Owned by the goroutine of Run.
	commanded map[point.Path]commanded // the values last recorded
	listed    map[point.Path]bool      // the points described
	lost      uint64                   // turns dropped for lack of room
}

// commanded is the commanded value of a point, and the level of its command; 0 for none.
type commanded struct {
	value point.Value
	level control.Level
}

// note is what one turn records.
type note struct {
	infos   []point.Info
	samples []point.Sample
}

// notes is how many turns may be pending for recording.
const notes = 256

func newRecorder(record func(context.Context, []point.Info, []point.Sample) error, log *slog.Logger) recorder {
	return recorder{record: record, log: log, notes: make(chan note, notes), commanded: make(map[point.Path]commanded), listed: make(map[point.Path]bool)}
}

func (s *recorder) close() { close(s.notes) }

// begin records the earlier commanded values once more, since it is unknown whether they were recorded.
func (s *recorder) begin(l *loop, t *turn) {
	if s.record == nil {
		return
	}
	paths := l.model.Commanded()
	for i := range t.events {
		paths = append(paths, t.events[i].Path)
	}
	for _, path := range paths {
		s.commanded[path] = commanded{point.TextOf(""), control.Levels + 1} // differs from any real value
	}
	s.write(l, t.now.Wall, paths)
}

// note collects the points whose commanded value has changed in a turn.
func (s *recorder) note(l *loop, t *turn) {
	if s.record == nil || len(t.events) == 0 {
		return
	}
	paths := make([]point.Path, len(t.events))
	for i := range t.events {
		paths[i] = t.events[i].Path
	}
	s.write(l, t.now.Wall, paths)
}

// write passes the changes on. Requests do not wait for it: a change for which there is no room is recorded
// when the point changes again, and is in the audit log in any case.
func (s *recorder) write(l *loop, now time.Time, paths []point.Path) {
	var n note
	changed := make(map[point.Path]commanded)
	for _, path := range paths {
		p, known := l.points.points[path]
		if !known {
			continue
		}
		view, _ := l.model.View(path)
		is := commanded{value: view.Commanded}
		if len(view.Array) > 0 {
			is.level = view.Array[0].Level
		}
		before := s.commanded[path] // the zero value, which means none, for a new one
		if _, twice := changed[path]; twice || before == is {
			continue
		}
		changed[path] = is
		n.add(&p, before, is, now, !s.listed[path])
	}
	if len(n.samples) == 0 {
		return
	}
	select {
	case s.notes <- n:
		for path, v := range changed {
			s.commanded[path], s.listed[path] = v, true
		}
	default:
		if s.lost++; s.lost&(s.lost-1) == 0 {
			s.log.Warn("commands are not recorded as samples, too many wait; the audit log has them", slog.Uint64("times", s.lost))
		}
	}
}

// add collects the changes of a point; none when it was relinquished.
func (n *note) add(p *Point, before, is commanded, now time.Time, fresh bool) {
	if fresh {
		tags := map[string]string{SourceTag: "control", OfTag: string(p.Point)}
		n.infos = append(n.infos, point.Info{
			Path: Prefix.Join(string(p.Point)), Kind: p.Kind, Unit: p.Unit, Tags: tags,
			Description: "What " + string(p.Point) + " is commanded",
		}, point.Info{
			Path: LevelPrefix.Join(string(p.Point)), Kind: point.Int, Tags: tags,
			Description: "The level of the command that " + string(p.Point) + " follows, 1 to 16",
		})
	}
	if before.value != is.value {
		n.sample(Prefix, p, is.value, now)
	}
	if before.level == is.level {
		return
	}
	var level point.Value
	if is.level > 0 {
		level = point.IntOf(int64(is.level))
	}
	n.sample(LevelPrefix, p, level, now)
}

func (n *note) sample(branch point.Path, p *Point, v point.Value, now time.Time) {
	s := point.Sample{Point: branch.Join(string(p.Point)), Time: now.UTC(), Value: v}
	if v.Kind() == point.None {
		s.Quality = point.Released
	}
	n.samples = append(n.samples, s)
}

// run records until the recorder is closed. A failed recording is retried a few times; the audit log has the
// change in any case.
func (s *recorder) run(ctx context.Context) {
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

func (s *recorder) keep(ctx context.Context, n note) error { return s.record(ctx, n.infos, n.samples) }
