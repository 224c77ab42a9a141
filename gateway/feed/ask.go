package feed

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/point"
)

// Missing asks the node for every point, and returns those that it does not have, in path order. Run shows the
// others, and these as soon as the node has them. Call it before Run, which then does not report these points again.
func (f *Feed) Missing(ctx context.Context) ([]point.Path, error) {
	missing, err := f.missing(ctx, slices.Collect(maps.Keys(f.points)))
	if err != nil {
		return nil, err
	}
	for _, path := range missing {
		f.absent[path] = true
	}
	return missing, nil
}

// missing returns the points among paths that the node does not have, sorted.
func (f *Feed) missing(ctx context.Context, paths []point.Path) ([]point.Path, error) {
	var missing []point.Path
	for _, path := range paths {
		page, err := f.config.Node.Points(ctx, client.Filter{Pattern: string(path), Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("ask for the point %s: %w", path, err)
		}
		if !slices.ContainsFunc(page.Points, func(p answer.Point) bool { return p.Path == string(path) }) {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// ask fetches the existing points among paths; with again, it first checks whether the node now has those that it
// lacked before.
func (f *Feed) ask(ctx context.Context, paths []string, again bool) error {
	if again && len(f.absent) > 0 {
		before := slices.Collect(maps.Keys(f.absent))
		missing, err := f.missing(ctx, before)
		if err != nil {
			return err
		}
		clear(f.absent)
		for _, path := range missing {
			f.absent[path] = true
		}
		for _, path := range before {
			if !f.absent[path] {
				f.config.Log.InfoContext(ctx, "the node has a point that it did not have before", slog.String("point", string(path)))
			}
		}
	}
	there := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return f.absent[point.Path(path)] })
	for some := range slices.Chunk(there, batch) {
		if err := f.fetchSome(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// fetchSome fetches points, except those that the node does not have: one of them makes the node refuse the whole
// request, so the request is halved until the point is found.
func (f *Feed) fetchSome(ctx context.Context, paths []string) error {
	err := f.fetch(ctx, paths)
	if err == nil || fault.KindOf(err) != fault.NotFound {
		return err
	}
	if len(paths) == 1 {
		path := point.Path(paths[0])
		f.absent[path] = true
		f.config.Log.WarnContext(ctx, "the node does not have a point of the mapping; correct the mapping, or wait until the node has it",
			slog.String("point", string(path)))
		return nil
	}
	half := len(paths) / 2
	if err := f.fetchSome(ctx, paths[:half]); err != nil {
		return err
	}
	return f.fetchSome(ctx, paths[half:])
}

// fetch gets the newest values of points, and the values between the previously shown ones and these: each change
// is an event.
func (f *Feed) fetch(ctx context.Context, paths []string) error {
	latest, err := f.config.Node.Latest(ctx, client.Span{Points: paths})
	if err != nil {
		return fmt.Errorf("ask for the newest values: %w", err)
	}
	samples := make([]point.Sample, 0, len(latest.Samples))
	for _, a := range latest.Samples {
		s, err := client.Sample(a)
		if err != nil {
			return err
		}
		samples = append(samples, s)
	}
	if f.config.Between {
		between, err := f.between(ctx, samples)
		if err != nil {
			return err
		}
		f.config.Show(between)
	}
	f.config.Show(samples)
	for i := range samples {
		f.shown[samples[i].Point] = samples[i].Time
	}
	return nil
}

// between returns the history of points after the value last shown and before the newest samples, in time order.
func (f *Feed) between(ctx context.Context, newest []point.Sample) ([]point.Sample, error) {
	var paths []string
	var from, to time.Time
	f.mu.Lock()
	for i := range newest {
		s := &newest[i]
		last, known := f.shown[s.Point]
		if !known || f.heard[s.Point] || !s.Time.After(last) {
			continue
		}
		paths = append(paths, string(s.Point))
		if from.IsZero() || last.Before(from) {
			from = last
		}
		if s.Time.After(to) {
			to = s.Time
		}
	}
	f.mu.Unlock()
	if len(paths) == 0 {
		return nil, nil
	}
	answered, err := f.config.Node.Range(ctx, client.Span{
		Points: paths, From: from.Add(time.Microsecond).Format(time.RFC3339Nano), To: to.Format(time.RFC3339Nano),
	}, mostBetween, true)
	if err != nil {
		return nil, fmt.Errorf("ask for what came between: %w", err)
	}
	var between []point.Sample
	for _, series := range answered.Series {
		samples, err := client.Samples(series)
		if err != nil {
			return nil, err
		}
		last := f.shown[point.Path(series.Point)]
		between = append(between, slices.DeleteFunc(samples, func(s point.Sample) bool { return !s.Time.After(last) })...)
	}
	slices.SortStableFunc(between, func(a, b point.Sample) int { return a.Time.Compare(b.Time) })
	return between, nil
}
