package requester

import (
	"context"
	"strings"

	"voltbus/identity"
)

// People are those who log in. Commands and reservations that a person may not hold with another role end with the change.
type People struct {
	*identity.Logins
	Reviewer *Reviewer
}

// RemovePerson removes a person and ends what it holds.
func (p People) RemovePerson(ctx context.Context, name string) error {
	err := p.Logins.RemovePerson(ctx, name)
	if err == nil {
		p.Reviewer.Person(strings.ToLower(strings.TrimSpace(name)), identity.Nobody) // as it is kept
	}
	return err
}

// SetPerson adds or changes a person and reviews what it holds.
func (p People) SetPerson(ctx context.Context, c identity.Change) (identity.Account, error) {
	a, err := p.Logins.SetPerson(ctx, c)
	if err == nil {
		p.Reviewer.Person(a.Name, a.Role)
	}
	return a, err
}
