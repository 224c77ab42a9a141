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
	next, cfg, err := config.AddDevice(s.file.Name(), text, config.NewDevice{
		Path: d.Path, Driver: d.Driver, Interval: d.Interval, Config: d.Config,
	}, s.node.opts.Kinds)
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
	d, err := config.ReadDevice(s.file.Name(), config.NewDevice{Path: "try", Driver: name, Config: section}, s.node.opts.Kinds)
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
	infos := d.Config.Points()
	out := answer.Trial{Total: len(infos)}
	samples, err := readOnce(ctx, kind, d.Config, infos[:min(len(infos), tryPoints)])
	out.TookMS = float64(time.Since(began)) / float64(time.Millisecond)
	if err != nil {
		out.Kind, out.Detail = trouble(err)
		return out, nil
	}
	for i := range samples {
		out.Points = append(out.Points, trialPoint(&infos[i], &samples[i]))
	}
	return out, nil
}

// readOnce opens a line and a device, reads the points and closes both.
func readOnce(ctx context.Context, kind driver.Kind, cfg driver.Config, infos []point.Info) (samples []point.Sample, err error) {
	line, err := kind.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, line.Close()) }()
	session, err := line.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	names := make([]string, len(infos))
	for i := range infos {
		names[i] = string(infos[i].Path)
	}
	if len(names) == 0 {
		return nil, nil
	}
	list, err := session.Read(ctx, names)
	if err == nil && len(list) != len(names) {
		err = fmt.Errorf("the driver gave %d values for %d points", len(list), len(names))
	}
	return append(samples, list...), err // the list is the session's
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
