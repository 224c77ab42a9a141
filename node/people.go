package node

import (
	"context"
	"strings"

	"voltbus/identity"
)

// people are those who log in, with the end of what they hold when they may not any more.
type people struct {
	*identity.Logins
	dismiss func(requester string)
}

// RemovePerson implements api.People.
func (p people) RemovePerson(ctx context.Context, name string) error {
	err := p.Logins.RemovePerson(ctx, name)
	if err == nil {
		p.dismiss("person:" + strings.ToLower(strings.TrimSpace(name))) // as it is kept
	}
	return err
}

// SetPerson implements api.People.
func (p people) SetPerson(ctx context.Context, c identity.Change) (identity.Account, error) {
	a, err := p.Logins.SetPerson(ctx, c)
	if err == nil && !a.Role.Includes(identity.Operator) {
		p.dismiss("person:" + a.Name)
	}
	return a, err
}

// dismiss ends everything that somebody holds who may not any more.
func (n *Node) dismiss(requester string) {
	if n.desk != nil {
		n.desk.Dismiss(requester)
	}
}
