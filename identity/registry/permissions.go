package registry

import "voltbus/identity"

// Permissions is what an agent may do, and what those are bound to who may call it.
type Permissions struct {
	Version uint64           `json:"version"` // grows with every change of any agent, until the node ends
	Grants  identity.Grants  `json:"grants"`
	Callers map[string]Bound `json:"callers"` // by name
}

// Bound is what a caller of an agent is bound to.
type Bound struct {
	Call       []identity.CallGrant       `json:"call"` // to this agent
	Hold       []identity.CapabilityGrant `json:"hold"`
	Administer bool                       `json:"administer"`
}

// Grants returns what the caller may do, as far as the callee knows it.
func (b *Bound) Grants() *identity.Grants {
	return &identity.Grants{Call: b.Call, Hold: b.Hold, Administer: b.Administer}
}

// Permissions returns the standing of an agent; fault.NotFound if there is none of the name.
func (r *Agents) Permissions(name string) (Permissions, error) {
	version := r.Version() // before the rest: what changes meanwhile has a higher one
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
