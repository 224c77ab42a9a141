package tree

import (
	"errors"

	"voltbus/fault"
	"voltbus/identity"
)

// At another node a caller has at most the rights of its own node, and at most those of the neighbour through
// which the request comes. A person's role travels with the request; each node lowers it to what the
// neighbour may carry, and none raises it. An agent's grants to call are checked at its own node, since they
// name the other node; its named capabilities travel, since the called agent requires them.

// Caller is a local caller of another node.
type Caller struct {
	Name string        // such as agent:weather or person:ada
	Role identity.Role // of a person who may make the request; Nobody for an agent
	// Grants are what an agent may do; nil for a person.
	Grants *identity.Grants
}

// carry sets the rights of a local caller in the request.
func (r *Request) carry(c Caller) {
	r.Role, r.Grants = "", nil
	if c.Grants != nil {
		r.Grants = &identity.Grants{Hold: c.Grants.Hold, Administer: c.Grants.Administer}
	} else if c.Role != identity.Nobody {
		r.Role = c.Role.String()
	}
}

var errRole = errors.New("is no role that this node knows: viewer, operator, engineer or administrator; update this node, or the one that asks")

// checkRights checks the caller's rights as stated by a neighbour.
func (r *Request) checkRights() error {
	const op = "tree.Relay"
	if role, known := identity.ParseRole(r.Role); r.Role != "" && (!known || role == identity.Nobody) {
		return fault.E(op, fault.Refused, "role", errRole)
	}
	if r.Grants == nil {
		return nil
	}
	if bad := r.Grants.Validate(); len(bad) > 0 {
		return fault.E(op, fault.Invalid, "grants", bad[0])
	}
	return nil
}

// lower removes from the caller's rights what the neighbour may not carry: without administer a person is at
// most an engineer, and an agent does not administer.
func (r *Request) lower(neighbour *identity.Grants) {
	if role := r.role(); role != identity.Nobody {
		r.Role = min(role, carries(neighbour)).String()
	}
	if r.Grants != nil {
		r.Grants = &identity.Grants{Hold: r.Grants.Hold, Administer: r.Grants.Administer && neighbour.Administer}
	}
}

// carries returns the highest role of callers that come through a neighbour.
func carries(neighbour *identity.Grants) identity.Role {
	if neighbour.Administer {
		return identity.Administrator
	}
	return identity.Engineer
}

// role returns the stated role, Nobody for none.
func (r *Request) role() identity.Role {
	role, _ := identity.ParseRole(r.Role)
	return role
}

// IsAgent reports whether the caller is an agent, or an application outside, according to the nodes on the way: they have grants and no role.
func (v *RemoteCaller) IsAgent() bool {
	return v.For.Kind == identity.AgentKind || v.For.Kind == identity.ApplicationKind
}

// As returns the role with which a person carries out an operation that requires a role. If a node on the way
// does not state the role, it is the one that the operation requires, which every version of the program
// checks at the caller's node, but never administrator; Nobody for an agent, which has none.
func (v *RemoteCaller) As(needed identity.Role) identity.Role {
	switch {
	case v.IsAgent():
		return identity.Nobody
	case v.Role != identity.Nobody:
		return v.Role
	}
	return min(needed, identity.Engineer)
}

// Holds reports whether both the caller and the neighbour hold a capability that a method requires. A person
// needs the role engineer instead, as at their own node.
func (v *RemoteCaller) Holds(r *Request, capability string) error {
	switch {
	case !v.IsAgent() && !v.As(identity.Operator).Includes(identity.Engineer):
		return fault.E("tree.Holds", fault.Refused, r.Agent+":"+r.Method, &demandsError{capability})
	case v.IsAgent() && v.Own == nil:
		return fault.E("tree.Holds", fault.Refused, v.Requester(), &identity.Missing{Capability: "hold " + capability})
	case v.IsAgent():
		if err := r.Holds(v.Own, capability); err != nil {
			return err
		}
	}
	return r.Holds(&v.Grants, capability)
}

// demandsError describes what a method requires of people.
type demandsError struct{ capability string }

func (e *demandsError) Error() string {
	return "demands " + e.capability + " of agents, and the role engineer of people; ask an engineer, and update the nodes on the way if one does not say the role"
}
