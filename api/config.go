package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
)

// Settings are the node's configuration file. Methods return fault.Invalid with *Problems as the
// cause for a text that is wrong.
type Settings interface {
	// Config returns the text with its history.
	Config(ctx context.Context) (answer.Config, error)
	// ConfigVersion returns a text of the history; fault.NotFound if it is not kept.
	ConfigVersion(ctx context.Context, version string) (answer.ConfigText, error)
	// CheckConfig judges a text without changing anything. Problems are in the answer; fault.Refused if the
	// user could not change what the text changes.
	CheckConfig(ctx context.Context, text string, user identity.User) (answer.ConfigCheck, error)
	// ChangeConfig writes and applies a text; fault.Conflict if the file holds another version
	// than the change is made from.
	ChangeConfig(ctx context.Context, c ConfigChange) (answer.ConfigApplied, error)
	// ConfirmConfig lets the text of a version stay that is on trial; fault.NotFound if it is not. Somebody
	// of another node confirms only what it tries itself.
	ConfirmConfig(ctx context.Context, version string, user identity.User) error
	// ReloadConfig applies what stands in the file.
	ReloadConfig(ctx context.Context, user identity.User) (answer.ConfigApplied, error)
	// ConfigSchema returns the JSON Schema of the file.
	ConfigSchema() []byte
}

// ConfigChange is a new text for the configuration file.
type ConfigChange struct {
	Text    string
	Version string        // of the text that it was made from
	User    identity.User // who makes it: sections other than devices need an administrator
	// Bound is how long it may take to confirm the change, before the node goes back; 0 needs no
	// confirmation. Only what holds at once can be tried.
	Bound time.Duration
}

// Problems is the cause of an error: everything that is wrong with a configuration.
type Problems = answer.Problems

const configBody = 8 << 20

func configRoutes() []route {
	const engineer = identity.Engineer
	return []route{
		{method: "GET", path: prefix + "/config", remote: "config.get", role: engineer, serve: (*server).config},
		{method: "PUT", path: prefix + "/config", remote: "config.set", role: engineer, body: configBody, serve: (*server).changeConfig, audit: "config.apply"},
		{method: "POST", path: prefix + "/config/check", remote: "config.check", role: engineer, body: configBody, serve: (*server).checkConfig, audit: "config.check"},
		{method: "POST", path: prefix + "/config/confirm", remote: "config.confirm", role: engineer, body: loginBody, serve: (*server).confirmConfig, audit: "config.confirm"},
		{method: "POST", path: prefix + "/config/reload", remote: "config.reload", role: engineer, serve: (*server).reloadConfig, audit: "config.reload"},
		{method: "GET", path: prefix + "/config/schema", role: engineer, serve: (*server).configSchema},
		{method: "GET", path: prefix + "/config/versions/{version}", remote: "config.version", role: engineer, serve: (*server).configVersion},
	}
}

const noSettings = "configuration"

func (s *server) config(w http.ResponseWriter, r *request) error {
	if s.cfg.Settings == nil {
		return absent(noSettings)
	}
	c, err := s.cfg.Settings.Config(r.Context())
	if err != nil {
		return err
	}
	c.History, c.Restart = notNil(c.History), notNil(c.Restart)
	return writeJSON(w, c)
}

func (s *server) configVersion(w http.ResponseWriter, r *request) error {
	if s.cfg.Settings == nil {
		return absent(noSettings)
	}
	in := s.read(r)
	version := in.segment("version")
	if in.err != nil {
		return in.err
	}
	text, err := s.cfg.Settings.ConfigVersion(r.Context(), version)
	if err != nil {
		return err
	}
	return writeJSON(w, text)
}

func (s *server) checkConfig(w http.ResponseWriter, r *request) error {
	if s.cfg.Settings == nil {
		return absent(noSettings)
	}
	var body struct {
		Text *string `json:"text"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Text == nil { // not the same as an empty one, which has no devices
		return fault.E("api.checkConfig", fault.Invalid, "text", errMissing)
	}
	check, err := s.cfg.Settings.CheckConfig(r.Context(), *body.Text, r.user)
	r.did("", map[string]any{"octets": len(*body.Text), "problems": len(check.Problems)})
	if err != nil {
		return err
	}
	check.Problems, check.Changes = notNil(check.Problems), filled(check.Changes)
	return writeJSON(w, check)
}

var errVersion = errors.New("is missing; give the version of the text that you changed")

func (s *server) changeConfig(w http.ResponseWriter, r *request) error {
	if s.cfg.Settings == nil {
		return absent(noSettings)
	}
	var body struct {
		Text    *string `json:"text"`
		Version string  `json:"version"`
		Confirm float64 `json:"confirm"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Confirm < 0 || body.Confirm > maxTrial.Seconds() {
		return fault.E("api.changeConfig", fault.Invalid, "confirm", errBound)
	}
	if body.Text == nil { // an empty one removes all devices
		return fault.E("api.changeConfig", fault.Invalid, "text", errMissing)
	}
	if body.Version == "" {
		return fault.E("api.changeConfig", fault.Invalid, "version", errVersion)
	}
	applied, err := s.cfg.Settings.ChangeConfig(r.Context(), ConfigChange{
		Text: *body.Text, Version: body.Version, User: r.user, Bound: time.Duration(body.Confirm * float64(time.Second)),
	})
	r.did("", map[string]any{"from": body.Version, "to": applied.Version, "changes": applied.Changes.Words})
	if err != nil {
		return err
	}
	applied.Changes = filled(applied.Changes)
	return writeJSON(w, applied)
}

// maxTrial is how long a configuration may be on trial.
const maxTrial = time.Hour

var errBound = fmt.Errorf("is how many seconds it may take to confirm the change, up to %g", maxTrial.Seconds())

func (s *server) confirmConfig(w http.ResponseWriter, r *request) error {
	if s.cfg.Settings == nil {
		return absent(noSettings)
	}
	var body struct {
		Version string `json:"version"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(clip(body.Version), nil)
	if err := s.cfg.Settings.ConfirmConfig(r.Context(), body.Version, r.user); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *server) reloadConfig(w http.ResponseWriter, r *request) error {
	if s.cfg.Settings == nil {
		return absent(noSettings)
	}
	applied, err := s.cfg.Settings.ReloadConfig(r.Context(), r.user)
	r.did("", map[string]any{"to": applied.Version, "changes": applied.Changes.Words})
	if err != nil {
		return err
	}
	applied.Changes = filled(applied.Changes)
	return writeJSON(w, applied)
}

func (s *server) configSchema(w http.ResponseWriter, _ *request) error {
	if s.cfg.Settings == nil {
		return absent(noSettings)
	}
	out := &output{w: w, buf: s.cfg.Settings.ConfigSchema()}
	out.begin("application/schema+json")
	return out.end()
}

func filled(c answer.ConfigChanges) answer.ConfigChanges {
	return answer.ConfigChanges{
		Added: notNil(c.Added), Removed: notNil(c.Removed), Changed: notNil(c.Changed),
		Restart: notNil(c.Restart), Words: notNil(c.Words),
	}
}
