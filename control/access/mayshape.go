package access

import (
	"fmt"
	"slices"
	"strings"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
)

// Shaping returns the function that decides who may change what agents do, according to the grants in a registry; an unregistered agent has
// none.
func Shaping(agents interface {
	Agent(name string) (registry.Agent, error)
},
) func(agent string, role identity.Role) error {
	return func(agent string, role identity.Role) error {
		if role.Includes(identity.Administrator) {
			return nil
		}
		a, err := agents.Agent(agent)
		switch {
		case fault.Is(err, fault.NotFound):
			return nil
		case err != nil:
			return err
		}
		return MayShape(agent, &a.Grants, role)
	}
}

// MayShape reports whether people with a role may change what an agent does, its code and its configuration: whoever changes these
// acts with the agent's rights.
func MayShape(agent string, g *identity.Grants, role identity.Role) error {
	needed := RoleOf(g)
	if role.Includes(identity.Administrator) || role.Includes(needed) {
		return nil
	}
	return fault.E("access.MayShape", fault.Refused, agent, fmt.Errorf(
		"may %s, which is above the role %v: who changes its code or configuration acts with that; have an %v do it, or take the grant away first with voltbus agent ungrant",
		strings.Join(above(g, role), ", "), role, needed))
}

// above lists the capabilities of grants that exceed a role.
func above(g *identity.Grants, role identity.Role) []string {
	one := identity.Grants{Administer: g.Administer}
	one.Command = slices.DeleteFunc(slices.Clone(g.Command), func(c identity.CommandGrant) bool {
		return role.Includes(RoleOf(&identity.Grants{Command: []identity.CommandGrant{c}}))
	})
	return one.Capabilities()
}
