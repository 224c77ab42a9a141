package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"voltbus/api/answer"
)

// People returns everybody who can log in.
func (c *Client) People(ctx context.Context) (p answer.People, err error) {
	return p, c.get(ctx, "people", nil, &p)
}

// SetPerson adds a person, or changes the role, and the password if it is not "".
func (c *Client) SetPerson(ctx context.Context, name, role, password string) (p answer.Person, err error) {
	body := struct {
		Role     string `json:"role"`
		Password string `json:"password,omitempty"`
	}{role, password}
	resp, err := c.call(ctx, http.MethodPut, "people/"+url.PathEscape(name), nil, body)
	if err != nil {
		return p, err
	}
	err = errors.Join(decode(resp.Body, &p), resp.Body.Close())
	return p, err
}

// RemovePerson removes a person.
func (c *Client) RemovePerson(ctx context.Context, name string) error {
	resp, err := c.call(ctx, http.MethodDelete, "people/"+url.PathEscape(name), nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
