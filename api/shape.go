package api

import (
	"voltbus/api/exchange"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/identity"
)

// Who writes the code or the configuration of an agent decides what its grants are used for. So this needs a
// role that may do itself what the agent may.

// Agents knows what agents may do.
type Agents interface {
	Agent(name string) (identity.Agent, error)
}

// mayShape reports whether a person may change what an agent does: its code and its configuration.
func (s *server) mayShape(r *exchange.Request, agent string) error {
	if s.cfg.Agents == nil || r.User.Role.Includes(identity.Administrator) {
		return nil
	}
	a, err := s.cfg.Agents.Agent(agent)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	}
	return access.MayShape(agent, &a.Grants, r.User.Role)
}
