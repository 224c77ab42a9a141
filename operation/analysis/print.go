package analysis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"voltbus/alarm"
	"voltbus/alarm/storage"
	"voltbus/analysis"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/query"
	"voltbus/report"
	"voltbus/store"
)

const (
	// mostSteps is how many steps a curve has at least a sixth of.
	mostSteps = 1000
	// mostListed bounds the alarms of a report; the others are counted.
	mostListed = 100
	mostAlarms = 100_000
	// longestReport bounds the time of a report.
	longestReport = 370 * 24 * time.Hour
	defaultTitle  = "Report"
)

var (
	errWhat  = errors.New("name a report, one to 50 points, or a saved view")
	errSpan  = errors.New("must be after from, and at most 370 days")
	errFewer = errors.New("the report is not kept; name one of report.list, or points")
)

func (d *handler) print(ctx context.Context, _ *operation.Call, in *Printed, to operation.Stream) error {
	const op = "report.pdf"
	what := analysis.Report{Title: in.Title, Points: in.Point, View: in.View}
	switch {
	case in.Report != "" && (len(in.Point) > 0 || in.View != ""), in.Report == "" && len(in.Point) == 0 && in.View == "":
		return fault.E(op, fault.Invalid, "report", errWhat)
	case in.Report != "":
		var err error
		if what, err = d.kept.Report(ctx, in.Report); err != nil {
			return fault.E(op, fault.NotFound, in.Report, errFewer)
		}
	case what.Title == "":
		what.Title = defaultTitle
	}
	if what.Name == "" {
		what.Name = "report"
	}
	if err := what.Validate(); err != nil {
		return err
	}
	from, until, err := d.span(op, in, what.Day())
	if err != nil {
		return err
	}
	data, err := d.Make(ctx, &what, from, until)
	if err != nil {
		return err
	}
	to.Begin(operation.Head{Media: Media, File: what.Name + "-" + from.In(d.zone).Format(time.DateOnly) + ".pdf"})
	if _, err := to.Write(data); err != nil {
		return fault.E(op, fault.Canceled, what.Name, err)
	}
	return nil
}

func (d *handler) span(op string, in *Printed, day time.Weekday) (from, to time.Time, err error) {
	from, to = report.Week(d.Now(), d.zone, day)
	if in.From != "" {
		if from, err = d.at(op, "from", in.From, from); err != nil {
			return from, to, err
		}
		local := from.In(d.zone)
		to = time.Date(local.Year(), local.Month(), local.Day()+7, local.Hour(), local.Minute(), local.Second(), 0, d.zone)
	}
	if to, err = d.at(op, "to", in.To, to); err != nil {
		return from, to, err
	}
	if !to.After(from) || to.Sub(from) > longestReport {
		return from, to, fault.E(op, fault.Invalid, "to", errSpan)
	}
	return from, to, nil
}

// Make makes a report as PDF.
func (d *handler) Make(ctx context.Context, what *analysis.Report, from, to time.Time) ([]byte, error) {
	r := report.Report{Title: what.Title, Node: d.Node, Zone: d.zone, From: from, To: to, Made: d.Now()}
	points, note, err := d.shows(ctx, what)
	if err != nil {
		return nil, err
	}
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	for _, p := range points {
		s, err := d.series(ctx, p, from, to)
		if fault.Is(err, fault.NotFound) {
			r.Notes = append(r.Notes, "The node does not know the point "+p+".")
			continue
		}
		if err != nil {
			return nil, err
		}
		r.Series = append(r.Series, s)
	}
	if err := d.listAlarms(ctx, &r); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := report.Write(&b, &r); err != nil {
		return nil, fault.E("report.pdf", fault.Internal, what.Name, err)
	}
	return b.Bytes(), nil
}

// shows returns the points of a report, and what a view has that a report has not.
func (d *handler) shows(ctx context.Context, what *analysis.Report) (points []string, note string, err error) {
	if what.View == "" {
		return what.Points, "", nil
	}
	v, err := d.kept.View(ctx, what.View)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, "The saved view " + what.View + " was deleted: choose another one for this report.", nil
	case err != nil:
		return nil, "", err
	}
	points, more := v.Shows()
	if more {
		note = "The saved view has formulas, or more points than a report."
	}
	return points, note, nil
}

// series asks for the curve and the figures of a point.
func (d *handler) series(ctx context.Context, path string, from, to time.Time) (report.Series, error) {
	selection := query.Selection{Points: []point.Path{point.Path(path)}}
	whole, err := d.summary(ctx, selection, from, to, to.Sub(from))
	if err != nil {
		return report.Series{}, err
	}
	curve, err := d.summary(ctx, selection, from, to, stepFor(to.Sub(from)))
	if err != nil {
		return report.Series{}, err
	}
	// The time before need not be known
	before, _ := d.summary(ctx, selection, d.week(from, -1), d.week(to, -1), to.Sub(from)+2*time.Hour)
	s := report.Series{Point: path, Unit: whole.Info.Unit, Description: whole.Info.Description, Statistics: report.Nothing(), Complete: -1}
	if ratio, known := whole.Coverage.Ratio(); known {
		s.Complete = ratio
	}
	if len(whole.Buckets) > 0 && whole.Buckets[0].Count > 0 {
		fill(&s, &whole.Buckets[0], to.Sub(from))
	}
	if len(before.Buckets) > 0 && before.Buckets[0].Count > 0 {
		s.Before = before.Buckets[0].Mean
	}
	for i := range curve.Buckets {
		if b := &curve.Buckets[i]; b.Count > 0 {
			s.Steps = append(s.Steps, report.Step{Start: b.Start, Mean: b.Mean, Min: b.Min, Max: b.Max})
		}
	}
	return s, nil
}

// week is so many weeks later by the clock of the zone.
func (d *handler) week(t time.Time, weeks int) time.Time { return t.In(d.zone).AddDate(0, 0, 7*weeks) }

// stepFor is a round step of which a time has at most some hundreds.
func stepFor(width time.Duration) time.Duration {
	for _, step := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour} {
		if width/step <= mostSteps {
			return step
		}
	}
	return 24 * time.Hour
}

// figures are asked for beside those of every bucket.
func figures() []query.Function {
	return []query.Function{"p5", query.Median, "p95", query.TimeWeighted}
}

func (d *handler) summary(ctx context.Context, selection query.Selection, from, to time.Time, step time.Duration) (query.Summary, error) {
	parsed, err := query.ParseStep(fmt.Sprintf("%dms", max(1, step.Milliseconds())))
	if err != nil {
		return query.Summary{}, err
	}
	found, err := d.History.Aggregate(ctx, query.Request{Selection: selection, From: from, To: to}, query.Aggregation{Step: parsed, Functions: figures()})
	if err != nil || len(found.Series) == 0 {
		return query.Summary{}, err
	}
	return found.Series[0], nil
}

func fill(s *report.Series, b *store.Bucket, width time.Duration) {
	s.Count, s.Mean, s.Min, s.Max = b.Count, b.Mean, b.Min, b.Max
	values := query.Values(figures(), b)
	s.P5, s.Median, s.P95 = values[0], values[1], values[2]
	if over, factor, is := integrals(s.Unit); is && s.Complete >= 0 {
		s.Integral, s.IntegralUnit = values[3]*width.Hours()*math.Min(1, s.Complete)*factor, over
	}
}

// integrals returns the unit of an integral over hours, for units that are something in a time.
func integrals(unit string) (over string, factor float64, is bool) {
	known := map[string]struct {
		over   string
		factor float64
	}{
		"W": {"kWh", 1e-3}, "kW": {"kWh", 1}, "MW": {"MWh", 1}, "m3/h": {"m³", 1}, "l/h": {"l", 1}, "l/s": {"m³", 3.6}, "kg/h": {"kg", 1},
		"kg/s": {"t", 3.6}, "kvar": {"kvarh", 1}, "kVA": {"kVAh", 1},
	}
	k, is := known[unit]
	return k.over, k.factor, is
}

// listAlarms adds the alarms that opened.
func (d *handler) listAlarms(ctx context.Context, r *report.Report) error {
	if d.Alarms == nil {
		return nil
	}
	list, err := d.Alarms.History(ctx, storage.Query{From: r.From, To: r.To, Limit: mostAlarms})
	if err != nil {
		return err
	}
	for i := len(list) - 1; i >= 0; i-- { // the oldest first
		t := &list[i]
		if t.Event != alarm.EventOpened || t.At.Before(r.From) || !t.At.Before(r.To) {
			continue
		}
		if r.Opened++; len(r.Alarms) < mostListed {
			r.Alarms = append(r.Alarms, report.Alarm{At: t.At, Priority: string(t.Priority), Text: t.Text, Point: string(t.Point)})
		}
	}
	return nil
}
