package requester

import (
	"context"
	"strings"

	"voltbus/identity"
)

// People are those who log in. A change of role ends the commands and reservations that the person may not hold with the new role.
type People struct {
	*identity.Logins
	Reviewer *Reviewer
}

// RemovePerson removes a person and ends what the person holds.
func (p People) RemovePerson(ctx context.Context, name string) error {
	err := p.Logins.RemovePerson(ctx, name)
	if err == nil {
		p.Reviewer.Person(strings.ToLower(strings.TrimSpace(name)), identity.Nobody) // in its stored form
	}
	return err
}

// SetPerson adds or changes a person and reviews what the person holds.
func (p People) SetPerson(ctx context.Context, c identity.Change) (identity.Account, error) {
	a, err := p.Logins.SetPerson(ctx, c)
	if err == nil {
		p.Reviewer.Person(a.Name, a.Role)
	}
	return a, err
}
