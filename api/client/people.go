package client

import (
	"context"

	"voltbus/api/answer"
	"voltbus/operation/people"
)

// People returns everybody who can log in.
func (c *Client) People(ctx context.Context) (answer.People, error) {
	return Do(ctx, c, people.List, struct{}{})
}

// SetPerson adds a person, or changes the role, and the password if it is not "".
func (c *Client) SetPerson(ctx context.Context, name, role, password string) (answer.Person, error) {
	return Do(ctx, c, people.Set, people.Change{Person: people.Person{Name: name}, Role: role, Password: password})
}

// RemovePerson removes a person.
func (c *Client) RemovePerson(ctx context.Context, name string) error {
	_, err := Do(ctx, c, people.Remove, people.Person{Name: name})
	return err
}
