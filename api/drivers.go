package api

import (
	"context"
	"encoding/json"
	"net/http"

	"voltbus/api/answer"
	"voltbus/identity"
)

// Catalogue knows the kinds of devices, and adds devices to the configuration.
type Catalogue interface {
	// Drivers lists the kinds by name.
	Drivers() []answer.Driver
	// Try opens a device, reads it once and closes it, within seconds. What the device does is
	// in the answer; fault.NotFound is an unknown kind, fault.Invalid with Problems a wrong
	// section, fault.Unavailable that others are trying.
	Try(ctx context.Context, kind string, section json.RawMessage) (answer.Trial, error)
	// AddDevice adds a device to the configuration file and applies it; fault.Conflict if its
	// path is taken, fault.Invalid with Problems if it is wrong.
	AddDevice(ctx context.Context, d AddedDevice) (answer.ConfigApplied, error)
}

// AddedDevice is a device to add.
type AddedDevice struct {
	Path     string
	Driver   string
	Interval string          // as in the configuration, such as "10s"; "" for its default
	Config   json.RawMessage // an object; nil for none
	User     identity.User
}

const deviceBody = 1 << 20

func driverRoutes() []route {
	const engineer = identity.Engineer
	return []route{
		{method: "GET", path: prefix + "/drivers", role: engineer, serve: (*server).drivers},
		{method: "POST", path: prefix + "/drivers/{kind}/try", role: engineer, body: deviceBody, serve: (*server).tryDriver, audit: "device.try"},
		{method: "POST", path: prefix + "/devices", role: engineer, body: deviceBody, serve: (*server).addDevice, audit: "device.add"},
	}
}

func (s *server) drivers(w http.ResponseWriter, _ *request) error {
	if s.cfg.Catalogue == nil {
		return absent("drivers")
	}
	return writeJSON(w, answer.Drivers{Drivers: notNil(s.cfg.Catalogue.Drivers())})
}

func (s *server) tryDriver(w http.ResponseWriter, r *request) error {
	if s.cfg.Catalogue == nil {
		return absent("drivers")
	}
	in := s.read(r)
	kind := in.segment("kind")
	if in.err != nil {
		return in.err
	}
	var body struct {
		Config json.RawMessage `json:"config"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(kind, nil)
	trial, err := s.cfg.Catalogue.Try(r.Context(), kind, body.Config)
	if err != nil {
		return err
	}
	trial.Points, trial.Notes = notNil(trial.Points), notNil(trial.Notes)
	return writeJSON(w, trial)
}

func (s *server) addDevice(w http.ResponseWriter, r *request) error {
	if s.cfg.Catalogue == nil || s.cfg.Settings == nil {
		return absent(noSettings)
	}
	var body struct {
		Path     string          `json:"path"`
		Driver   string          `json:"driver"`
		Interval string          `json:"interval"`
		Config   json.RawMessage `json:"config"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(body.Path, map[string]any{"driver": body.Driver})
	applied, err := s.cfg.Catalogue.AddDevice(r.Context(), AddedDevice{
		Path: body.Path, Driver: body.Driver, Interval: body.Interval, Config: body.Config, User: r.user,
	})
	if err != nil {
		return err
	}
	applied.Changes = filled(applied.Changes)
	return writeJSON(w, applied)
}
