package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/config/edit"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/configuration/report"
	"voltbus/point"
)

const (
	tryTime   = 15 * time.Second
	tryPoints = 500 // points that are read and listed
	tryAtOnce = 2
)

var errTrying = errors.New("others are trying devices just now; try again in a moment")

// devices carries out the operations on drivers, and on devices to test and add.
type devices struct{ *Part }

func (p devices) drivers(context.Context, *operation.Call, *Nothing) (answer.Drivers, error) {
	out := make([]answer.Driver, len(p.opts.Kinds))
	for i, k := range p.opts.Kinds {
		out[i] = answer.Driver{Kind: k.Name, Doc: k.Doc, Searches: k.Search != nil, Schema: config.DriverSchema(k.Name)}
		if out[i].Schema == nil {
			out[i].Schema = json.RawMessage(`{"type":"object"}`)
		}
	}
	return answer.Drivers{Drivers: out}, nil
}

func (p devices) add(ctx context.Context, c *operation.Call, in *Device) (answer.ConfigApplied, error) {
	c.Did(in.Path, map[string]any{"driver": in.Driver})
	text, err := p.file.Read()
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	next, cfg, err := edit.AddDevice(p.place(), text, edit.NewDevice{Path: in.Path, Driver: in.Driver, Interval: in.Interval, Config: in.Config})
	if err != nil {
		return answer.ConfigApplied{}, p.invalid(err, text)
	}
	out, err := p.change(ctx, c, &change{text: next, version: versionOf(text), means: cfg})
	out.Changes = filled(out.Changes)
	return out, err
}

var errKind = errors.New("is not a driver; /api/v1/drivers lists them")

// places are for those who try or search at the same time.
type places chan struct{}

// take takes a place, which end gives back; the error says that there is none.
func (p places) take(op, subject string) (end func(), err error) {
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	default:
		return nil, fault.E(op, fault.Unavailable, subject, errTrying)
	}
}

func (p devices) try(ctx context.Context, c *operation.Call, in *Attempt) (report.Trial, error) {
	c.Did(in.Kind, nil)
	i := slices.IndexFunc(p.opts.Kinds, func(k driver.Kind) bool { return k.Name == in.Kind && k.Dial != nil })
	if i < 0 {
		return report.Trial{}, fault.E("device.try", fault.NotFound, in.Kind, errKind)
	}
	d, notes, err := edit.ReadDevice(p.place(), edit.NewDevice{Path: "try", Driver: in.Kind, Config: in.Config})
	if err != nil {
		return report.Trial{}, p.invalid(err, nil)
	}
	end, err := p.trying.take("device.try", in.Kind)
	if err != nil {
		return report.Trial{}, err
	}
	defer end()
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	points, total, err := tryOnce(ctx, p.opts.Kinds[i], d.Config)
	out := report.Trial{Total: total, Points: append([]report.TrialPoint{}, points...), Notes: []string{}}
	out.TookMS = float64(time.Since(began)) / float64(time.Millisecond)
	for _, note := range p.problems(notes, nil) {
		out.Notes = append(out.Notes, note.Detail)
	}
	if err != nil {
		out.Kind, out.Detail = trouble(err, tryTime)
	}
	return out, nil
}

// tryOnce opens a line and a device, reads the configured points, or else those that the device lists,
// and closes both. It also returns their number. What the device holds for other readers stays there:
// the node may collect from it over another line.
func tryOnce(ctx context.Context, kind driver.Kind, cfg driver.Config) (points []report.TrialPoint, total int, err error) {
	infos := cfg.Points()
	if l, can := cfg.(driver.ReadOnly); can {
		cfg = l.ReadOnly()
	}
	line, err := kind.Dial(ctx, cfg)
	if err != nil {
		return nil, len(infos), err
	}
	defer func() { err = errors.Join(err, line.Close()) }()
	session, err := line.Open(ctx, cfg)
	if err != nil {
		return nil, len(infos), err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	if d, can := session.(driver.Discoverer); can && len(infos) == 0 {
		return discover(ctx, d)
	}
	points, err = readOnce(ctx, session, infos[:min(len(infos), tryPoints)])
	return points, len(infos), err
}

// discover asks a device for the points it has.
func discover(ctx context.Context, d driver.Discoverer) ([]report.TrialPoint, int, error) {
	found, err := d.Discover(ctx)
	points := make([]report.TrialPoint, 0, min(len(found), tryPoints))
	for i := range found[:min(len(found), tryPoints)] {
		p := trialPoint(&found[i].Info, &found[i].Sample)
		p.Entry = found[i].Entry
		points = append(points, p)
	}
	return points, len(found), err
}

// readOnce reads points.
func readOnce(ctx context.Context, session driver.Session, infos []point.Info) ([]report.TrialPoint, error) {
	names := make([]string, len(infos))
	for i := range infos {
		names[i] = string(infos[i].Path)
	}
	if len(names) == 0 {
		return nil, nil
	}
	samples, err := session.Read(ctx, names)
	if err == nil && len(samples) != len(names) {
		err = fmt.Errorf("the driver gave %d values for %d points", len(samples), len(names))
	}
	if err != nil {
		return nil, err
	}
	points := make([]report.TrialPoint, len(infos))
	for i := range infos {
		points[i] = trialPoint(&infos[i], &samples[i])
	}
	if i, can := session.(driver.Interpreter); can {
		interpret(points, i)
	}
	return points, nil
}

// interpret adds what the device sent for each point.
func interpret(points []report.TrialPoint, session driver.Interpreter) {
	for i := range points {
		raw := session.Interpret(points[i].Name)
		points[i].At, points[i].Raw = raw.At, raw.Words
		for _, o := range raw.Orders {
			points[i].Orders = append(points[i].Orders, report.TrialOrder{Order: o.Order, Value: o.Value.AppendJSON(nil), Used: o.Used})
		}
	}
}

// trouble explains in words why a device could not be read.
func trouble(err error, within time.Duration) (kind, detail string) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Timeout.String(), fmt.Sprintf("it did not answer within %v; check address, unit number and wiring", within)
	case errors.Is(err, driver.ErrNotConnected) && fault.KindOf(err) == fault.Internal:
		return fault.Unreachable.String(), err.Error()
	}
	return fault.KindOf(err).String(), err.Error()
}

func trialPoint(info *point.Info, s *point.Sample) report.TrialPoint {
	return report.TrialPoint{
		Name: string(info.Path), Kind: info.Kind.String(), Unit: info.Unit, Description: info.Description,
		Writable: info.Writable, Value: s.Value.AppendJSON(nil), Quality: s.Quality.String(),
	}
}
