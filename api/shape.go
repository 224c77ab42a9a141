package api

import (
	"fmt"
	"slices"
	"strings"

	"voltbus/control/access"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
)

// Who writes the code or the configuration of an agent decides what its grants are used for. So this needs a
// role that may do itself what the agent may.

// mayShape reports whether a person may change what an agent does: its code and its configuration.
func (s *server) mayShape(r *request, agent string) error {
	if s.cfg.Agents == nil || r.user.Role.Includes(identity.Administrator) {
		return nil
	}
	a, err := s.cfg.Agents.Agent(r.Context(), agent)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	}
	needed := access.RoleOf(&a.Grants)
	if r.user.Role.Includes(needed) {
		return nil
	}
	return fault.E("api.agent", fault.Refused, agent, fmt.Errorf(
		"may %s, which is above the role %v: who changes its code or configuration acts with that; have an %v do it, or take the grant away first with voltbus agent ungrant",
		strings.Join(above(&a.Grants, r.user.Role), ", "), r.user.Role, needed))
}

// above lists the capabilities of grants that are above a role.
func above(g *identity.Grants, role identity.Role) []string {
	one := identity.Grants{Administer: g.Administer}
	one.Command = slices.DeleteFunc(slices.Clone(g.Command), func(c identity.CommandGrant) bool {
		return role.Includes(access.RoleOf(&identity.Grants{Command: []identity.CommandGrant{c}}))
	})
	return one.Capabilities()
}

// mayWrite reports whether a person may change a document: those of an agent, and those that documents of
// agents refer to, only who may change what the agents do.
func (s *server) mayWrite(r *request, k document.Key) error {
	owners := []string{k.Owner}
	if k.Owner == document.Shared {
		users, err := s.cfg.Documents.Users(r.Context(), k)
		if err != nil {
			return err
		}
		for _, u := range users {
			owners = append(owners, u.Owner)
		}
	}
	slices.Sort(owners)
	for _, owner := range slices.Compact(owners) {
		if agent, is := strings.CutPrefix(owner, "agent/"); is {
			if err := s.mayShape(r, agent); err != nil {
				return err
			}
		}
	}
	return nil
}
