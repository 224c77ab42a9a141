package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

const (
	tryTime   = 15 * time.Second
	tryPoints = 500 // that are read and listed
	tryAtOnce = 2
)

var errTrying = errors.New("others are trying devices just now; try again in a moment")

// Drivers implements api.Catalogue.
func (s *settings) Drivers() []answer.Driver {
	kinds := s.node.opts.Kinds
	out := make([]answer.Driver, len(kinds))
	for i, k := range kinds {
		out[i] = answer.Driver{Kind: k.Name, Doc: k.Doc, Schema: config.DriverSchema(k.Name)}
		if out[i].Schema == nil {
			out[i].Schema = json.RawMessage(`{"type":"object"}`)
		}
	}
	return out
}

// AddDevice implements api.Catalogue.
func (s *settings) AddDevice(ctx context.Context, d api.AddedDevice) (answer.ConfigApplied, error) {
	text, err := s.file.Read()
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	next, cfg, err := config.AddDevice(s.place(), text, config.NewDevice{
		Path: d.Path, Driver: d.Driver, Interval: d.Interval, Config: d.Config,
	})
	if err != nil {
		return answer.ConfigApplied{}, s.invalid(err, text)
	}
	return s.change(ctx, api.ConfigChange{Text: string(next), Version: revision.VersionOf(text), User: d.User}, cfg)
}

// Try implements api.Catalogue.
func (s *settings) Try(ctx context.Context, name string, section json.RawMessage) (answer.Trial, error) {
	var kind driver.Kind
	for _, k := range s.node.opts.Kinds {
		if k.Name == name {
			kind = k
		}
	}
	if kind.Dial == nil {
		return answer.Trial{}, fault.E("node.Try", fault.NotFound, name, errors.New("is not a driver; /api/v1/drivers lists them"))
	}
	d, notes, err := config.ReadDevice(s.place(), config.NewDevice{Path: "try", Driver: name, Config: section})
	if err != nil {
		return answer.Trial{}, s.invalid(err, nil)
	}
	select {
	case s.trying <- struct{}{}:
		defer func() { <-s.trying }()
	default:
		return answer.Trial{}, fault.E("node.Try", fault.Unavailable, name, errTrying)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	points, total, err := tryOnce(ctx, kind, d.Config)
	out := answer.Trial{Total: total, Points: points, TookMS: float64(time.Since(began)) / float64(time.Millisecond)}
	for _, note := range s.problems(notes, nil) {
		out.Notes = append(out.Notes, note.Detail)
	}
	if err != nil {
		out.Kind, out.Detail = trouble(err)
	}
	return out, nil
}

// tryOnce opens a line and a device, reads the points that the configuration lists, or else asks
// the device for those that it has, and closes both. It also returns how many there are. What the device
// keeps for others stays there: the node may collect from it, by another line.
func tryOnce(ctx context.Context, kind driver.Kind, cfg driver.Config) (points []answer.TrialPoint, total int, err error) {
	infos := cfg.Points()
	if l, can := cfg.(driver.Looker); can {
		cfg = l.Look()
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

// discover asks a device for its points.
func discover(ctx context.Context, d driver.Discoverer) ([]answer.TrialPoint, int, error) {
	found, err := d.Discover(ctx)
	points := make([]answer.TrialPoint, 0, min(len(found), tryPoints))
	for i := range found[:min(len(found), tryPoints)] {
		p := trialPoint(&found[i].Info, &found[i].Sample)
		p.Entry = found[i].Entry
		points = append(points, p)
	}
	return points, len(found), err
}

// readOnce reads points.
func readOnce(ctx context.Context, session driver.Session, infos []point.Info) ([]answer.TrialPoint, error) {
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
	points := make([]answer.TrialPoint, len(infos))
	for i := range infos {
		points[i] = trialPoint(&infos[i], &samples[i])
	}
	return points, nil
}

// trouble says in words why a device could not be read.
func trouble(err error) (kind, detail string) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Timeout.String(), fmt.Sprintf("it did not answer within %v; check address, unit number and wiring", tryTime)
	case errors.Is(err, driver.ErrNotConnected) && fault.KindOf(err) == fault.Internal:
		return fault.Unreachable.String(), err.Error()
	}
	return fault.KindOf(err).String(), err.Error()
}

func trialPoint(info *point.Info, s *point.Sample) answer.TrialPoint {
	return answer.TrialPoint{
		Name: string(info.Path), Kind: info.Kind.String(), Unit: info.Unit, Description: info.Description,
		Writable: info.Writable, Value: s.Value.AppendJSON(nil), Quality: s.Quality.String(),
	}
}
