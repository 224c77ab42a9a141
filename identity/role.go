// Package identity defines identities: the keys of the node and of its bus clients, the certificates for connections, the people and
// programs that log in, and their roles. All secrets are generated where they are used and stored in files that only their owner can
// read.
package identity

// Role is what a person or program may do. Each role includes those before it.
type Role uint8

// The roles. The zero Role may do nothing.
const (
	Nobody        Role = iota
	Viewer             // sees points, values and states
	Operator           // also acknowledges and commands
	Engineer           // also configures devices and runs SQL
	Administrator      // also admits people, nodes and agents
)

var roleNames = [...]string{"nobody", "viewer", "operator", "engineer", "administrator"}

// String returns the role's name in lower case.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return roleNames[Nobody]
}

// ParseRole is the inverse of String. An unknown name gives Nobody and false.
func ParseRole(name string) (Role, bool) {
	for i, n := range roleNames {
		if n == name {
			return Role(i), true
		}
	}
	return Nobody, false
}

// Within returns the lower of the role and a limit; Nobody means no limit.
func (r Role) Within(bound Role) Role {
	if bound == Nobody {
		return r
	}
	return min(r, bound)
}

// Includes reports whether the role may do what needed may do.
func (r Role) Includes(needed Role) bool { return r != Nobody && r >= needed }
