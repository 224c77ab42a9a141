package login

import (
	"context"
	"net/http"

	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/transport"
)

// People are those who can log in by name. Names are case-insensitive.
type People interface {
	LoginByName(ctx context.Context, name, password string) (secret string, session identity.Credential, err error)
	ChangePassword(ctx context.Context, name, old, password string) error
	SetUp(ctx context.Context, name, password string) (identity.User, error)
}

// changePassword ends all sessions of the user, and begins a new one for the caller. A wrong old password counts as a failed login.
func (d *Door) changePassword(w http.ResponseWriter, r *exchange.Request) error {
	if d.People == nil {
		return exchange.Absent("people")
	}
	var body transport.Passwords
	if err := exchange.ReadJSON(w, r, &body); err != nil {
		return err
	}
	r.Did(r.User.Name, nil)
	mine := "person " + nameKey(r.User.Name) // a budget for the logged-in user: nobody else uses it up
	if wait := d.attempts.browsers.take(mine, d.Now()); wait > 0 {
		return exchange.Later(wait, errGuessed)
	}
	err := d.People.ChangePassword(r.Context(), r.User.Name, body.Old, body.New)
	if !fault.Is(err, fault.Refused) {
		d.attempts.browsers.refund(mine, d.Now())
	}
	if err != nil {
		return err
	}
	return d.enter(w, r, r.User.Name, body.New)
}

// enter begins a session for a user whose password was just set.
func (d *Door) enter(w http.ResponseWriter, r *exchange.Request, name, password string) error {
	secret, session, err := d.People.LoginByName(r.Context(), name, password)
	if err != nil {
		return err
	}
	setCookie(w, r, secret, session)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// setUp creates the first administrator. It takes the local administrator's token.
func (d *Door) setUp(w http.ResponseWriter, r *exchange.Request) error {
	if d.People == nil {
		return exchange.Absent("people")
	}
	var body transport.First
	if err := exchange.ReadJSON(w, r, &body); err != nil {
		return err
	}
	r.Did(body.Administrator, nil)
	u, err := d.People.SetUp(r.Context(), body.Administrator, body.Password)
	if err != nil {
		return err
	}
	return d.enter(w, r, u.Name, body.Password)
}
