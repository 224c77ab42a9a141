package node

import (
	"context"
	"strings"

	"voltbus/control/access"
	"voltbus/control/dispatch"
	"voltbus/identity"
)

// people are those who log in, with the end of what they hold and may not hold any more.
type people struct {
	*identity.Logins
	review func(person string, role identity.Role)
}

// RemovePerson implements people.People.
func (p people) RemovePerson(ctx context.Context, name string) error {
	err := p.Logins.RemovePerson(ctx, name)
	if err == nil {
		p.review(strings.ToLower(strings.TrimSpace(name)), identity.Nobody) // as it is kept
	}
	return err
}

// SetPerson implements people.People.
func (p people) SetPerson(ctx context.Context, c identity.Change) (identity.Account, error) {
	a, err := p.Logins.SetPerson(ctx, c)
	if err == nil {
		p.review(a.Name, a.Role)
	}
	return a, err
}

// reviewPerson ends what somebody holds and, with this role, may not hold any more.
func (n *Node) reviewPerson(name string, role identity.Role) {
	if n.desk == nil {
		return
	}
	who := access.Person("person:"+name, role)
	if !role.Includes(identity.Operator) {
		n.desk.Dismiss(who.Name)
		return
	}
	n.desk.Review(who.Name, dispatch.Rights{Command: who.Command, Reserve: who.Reserve})
}
