package api

import (
	"context"
	"net/http"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/identity"
)

// health gives everybody the status, and logged-in callers the details.
func (s *server) health(w http.ResponseWriter, r *exchange.Request) error {
	h := answer.Health{Status: "ok"}
	if s.cfg.Health != nil {
		h = s.cfg.Health.Health(r.Context())
	}
	if user, err := s.door.User(r.Request); err != nil || !user.Role.Includes(identity.Viewer) {
		h = answer.Health{Status: h.Status}
	} else if h.Started.IsZero() {
		h.Started = s.started.UTC()
	}
	if !works(h) {
		w.Header().Set("Content-Type", exchange.JSON)
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	return exchange.WriteJSON(w, h)
}

// works reports whether this node is working.
func (s *server) works(ctx context.Context) bool {
	return s.cfg.Health == nil || works(s.cfg.Health.Health(ctx))
}

// works reports whether a node of this health is working.
func works(h answer.Health) bool { return h.Status == "ok" || h.Status == "degraded" }

func (s *server) openapi(w http.ResponseWriter, _ *exchange.Request) error {
	out := exchange.NewOutput(w, append([]byte(nil), description...))
	out.Begin("application/yaml")
	return out.End()
}
