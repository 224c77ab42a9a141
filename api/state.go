package api

import (
	"net/http"

	"voltbus/api/answer"
	"voltbus/identity"
)

// health answers everybody with the status, and those who are logged in with the details.
func (s *server) health(w http.ResponseWriter, r *request) error {
	h := answer.Health{Status: "ok"}
	if s.cfg.Health != nil {
		h = s.cfg.Health.Health(r.Context())
	}
	if user, err := s.user(r.Request); err != nil || !user.Role.Includes(identity.Viewer) {
		h = answer.Health{Status: h.Status}
	} else if h.Started.IsZero() {
		h.Started = s.started.UTC()
	}
	if !works(h) {
		w.Header().Set("Content-Type", jsonType)
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	return writeJSON(w, h)
}

// works reports whether a node of that health does its work.
func works(h answer.Health) bool { return h.Status == "ok" || h.Status == "degraded" }

func (s *server) openapi(w http.ResponseWriter, _ *request) error {
	out := &output{w: w, buf: append([]byte(nil), description...)}
	out.begin("application/yaml")
	return out.end()
}

// notNil makes an empty list of none, so that JSON says [] and not null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
