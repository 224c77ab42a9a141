package registry

import "voltbus/identity"

// Permissions is what an agent may do, and the constraints on its callers.
type Permissions struct {
	Version uint64           `json:"version"` // increases with every change of any agent, while the node runs
	Grants  identity.Grants  `json:"grants"`
	Callers map[string]Bound `json:"callers"` // by name
}

// Bound holds the constraints of a caller of an agent.
type Bound struct {
	Call       []identity.CallGrant       `json:"call"` // for this agent
	Hold       []identity.CapabilityGrant `json:"hold"`
	Administer bool                       `json:"administer"`
}

// Grants returns what the caller may do, as far as the callee knows it.
func (b *Bound) Grants() *identity.Grants {
	return &identity.Grants{Call: b.Call, Hold: b.Hold, Administer: b.Administer}
}

// Permissions returns the permissions of an agent; fault.NotFound if it does not exist.
func (r *Agents) Permissions(name string) (Permissions, error) {
	version := r.Version() // read first: concurrent changes get a higher one
	a, err := r.Agent(name)
	if err != nil {
		return Permissions{}, err
	}
	s := Permissions{Version: version, Grants: a.Grants, Callers: map[string]Bound{}}
	for _, c := range r.Callers(name) {
		s.Callers[c.Name] = Bound{Call: c.Call, Hold: c.Hold, Administer: c.Administer}
	}
	return s, nil
}
