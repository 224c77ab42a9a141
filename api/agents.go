package api

import (
	"context"
	"net/http"

	"voltbus/api/answer"
	"voltbus/identity"
)

// Agents are the identities of programs on the bus. Changes hold on open connections when a method
// returns.
type Agents interface {
	Agents(ctx context.Context) ([]answer.Agent, error)
	Agent(ctx context.Context, name string) (answer.Agent, error)
	AddAgent(ctx context.Context, name, public string, grants identity.Grants) (answer.Agent, error)
	// Regrant lets change edit what an agent may do.
	Regrant(ctx context.Context, name string, change func(*identity.Grants) error) (answer.Agent, error)
	RevokeAgent(ctx context.Context, name string) (answer.Agent, error)
	RemoveAgent(ctx context.Context, name string) error
}

const agentBody = 1 << 20

func agentRoutes() []route {
	const administrator = identity.Administrator
	const path = prefix + "/agents/{name}"
	return []route{
		{method: "GET", path: prefix + "/agents", role: identity.Viewer, serve: (*server).agents},
		{method: "POST", path: prefix + "/agents", role: administrator, body: agentBody, serve: (*server).addAgent, audit: "agent.add"},
		{method: "GET", path: path, role: identity.Viewer, serve: (*server).agent},
		{method: "DELETE", path: path, role: administrator, serve: (*server).removeAgent, audit: "agent.remove"},
		{method: "POST", path: path + "/revoke", role: administrator, serve: (*server).revokeAgent, audit: "agent.revoke"},
		{method: "GET", path: path + "/grants", role: identity.Viewer, serve: (*server).grants},
		{method: "PUT", path: path + "/grants", role: administrator, body: agentBody, serve: (*server).setGrants, audit: "grants.set"},
		{method: "PATCH", path: path + "/grants", role: administrator, body: agentBody, serve: (*server).changeGrants, audit: "grants.set"},
	}
}

func (s *server) agents(w http.ResponseWriter, r *request) error {
	if s.cfg.Agents == nil {
		return absent("agents")
	}
	list, err := s.cfg.Agents.Agents(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, answer.Agents{Agents: list})
}

func (s *server) agent(w http.ResponseWriter, r *request) error {
	if s.cfg.Agents == nil {
		return absent("agents")
	}
	a, err := s.cfg.Agents.Agent(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return writeJSON(w, a)
}

// addAgent registers a key that was made elsewhere.
func (s *server) addAgent(w http.ResponseWriter, r *request) error {
	if s.cfg.Agents == nil {
		return absent("agents")
	}
	var body struct {
		Name   string          `json:"name"`
		Public string          `json:"public"`
		Grants identity.Grants `json:"grants"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(clip(body.Name), body)
	a, err := s.cfg.Agents.AddAgent(r.Context(), body.Name, body.Public, body.Grants)
	if err != nil {
		return err
	}
	return writeJSON(w, a)
}

func (s *server) removeAgent(w http.ResponseWriter, r *request) error {
	if s.cfg.Agents == nil {
		return absent("agents")
	}
	r.did(r.PathValue("name"), nil)
	if err := s.cfg.Agents.RemoveAgent(r.Context(), r.PathValue("name")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *server) revokeAgent(w http.ResponseWriter, r *request) error {
	if s.cfg.Agents == nil {
		return absent("agents")
	}
	r.did(r.PathValue("name"), nil)
	a, err := s.cfg.Agents.RevokeAgent(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return writeJSON(w, a)
}

func (s *server) grants(w http.ResponseWriter, r *request) error {
	if s.cfg.Agents == nil {
		return absent("agents")
	}
	a, err := s.cfg.Agents.Agent(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return writeJSON(w, a.Grants)
}

func (s *server) setGrants(w http.ResponseWriter, r *request) error {
	var body identity.Grants
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	return s.regrant(w, r, func(g *identity.Grants) error { *g = body; return nil })
}

// changeGrants adds and withdraws grants, so that two who do it at once undo nothing of each other.
func (s *server) changeGrants(w http.ResponseWriter, r *request) error {
	var body struct {
		Grant    identity.Grants `json:"grant"`
		Withdraw identity.Grants `json:"withdraw"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	return s.regrant(w, r, func(g *identity.Grants) error {
		left, err := g.Without(body.Withdraw)
		*g = left.With(body.Grant)
		return err
	})
}

// regrant answers with the new grants, and tells the audit log what was and what is.
func (s *server) regrant(w http.ResponseWriter, r *request, change func(*identity.Grants) error) error {
	if s.cfg.Agents == nil {
		return absent("agents")
	}
	name := r.PathValue("name")
	r.did(name, nil)
	a, err := s.cfg.Agents.Regrant(r.Context(), name, func(g *identity.Grants) error {
		before := *g
		err := change(g)
		r.did(name, struct {
			Before []string `json:"before"`
			After  []string `json:"after"`
		}{before.Capabilities(), g.Capabilities()})
		return err
	})
	if err != nil {
		return err
	}
	return writeJSON(w, a.Grants)
}
