package api

import (
	"context"
	"net/http"

	"voltbus/api/answer"
	"voltbus/identity"
)

// Presence knows the agents and their alerts.
type Presence interface {
	Peers(ctx context.Context) (answer.Peers, error)
	Alerts(ctx context.Context) (answer.Alerts, error)
	// ClearAlert ends an alert: fault.NotFound if none is open, Conflict if it lasts, Timeout if its agent does not say.
	ClearAlert(ctx context.Context, agent, key string) error
}

func presenceRoutes() []route {
	return []route{
		{method: "GET", path: prefix + "/peers", role: identity.Viewer, serve: (*server).peers},
		{method: "GET", path: prefix + "/alerts", role: identity.Viewer, serve: (*server).alerts},
		{method: "POST", path: prefix + "/alerts/{agent}/{key}/clear", role: identity.Operator, serve: (*server).clearAlert, audit: "alert.clear"},
	}
}

func (s *server) peers(w http.ResponseWriter, r *request) error {
	if s.cfg.Presence == nil {
		return absent("peers")
	}
	list, err := s.cfg.Presence.Peers(r.Context())
	if err != nil {
		return err
	}
	list.Peers = notNil(list.Peers)
	return writeJSON(w, list)
}

func (s *server) alerts(w http.ResponseWriter, r *request) error {
	if s.cfg.Presence == nil {
		return absent("alerts")
	}
	list, err := s.cfg.Presence.Alerts(r.Context())
	if err != nil {
		return err
	}
	list.Alerts = notNil(list.Alerts)
	return writeJSON(w, list)
}

func (s *server) clearAlert(w http.ResponseWriter, r *request) error {
	if s.cfg.Presence == nil {
		return absent("alerts")
	}
	in := s.read(r)
	agent, key := in.segment("agent"), in.segment("key")
	if in.err != nil {
		return in.err
	}
	if err := s.cfg.Presence.ClearAlert(r.Context(), agent, key); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
