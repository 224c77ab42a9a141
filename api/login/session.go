package login

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"voltbus/api/exchange"
	"voltbus/audit"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/transport"
)

var errLogin = errors.New("log in first: send the cookie of a session or the header Authorization: Bearer <token>")

// Authorise returns the user if the user may call the route, and the zero User if the route is open to everybody.
func (d *Door) Authorise(r *http.Request, rt exchange.Route) (identity.User, error) {
	if rt.Role == identity.Nobody {
		return identity.User{}, nil
	}
	if rt.Members {
		return d.member(r)
	}
	if rt.Record {
		return d.recordingUser(r, rt)
	}
	user, err := d.User(r)
	return user, d.mayCall(user, rt, err)
}

// mayCall returns why a user may not call a route, or the error of authenticating them.
func (d *Door) mayCall(user identity.User, rt exchange.Route, err error) error {
	if err != nil {
		return err
	}
	if !user.Role.Includes(rt.Role) {
		return fault.E("api.authorise", fault.Refused, user.Name, fmt.Errorf(
			"has the role %v, and this needs %v; ask an administrator", user.Role, rt.Role))
	}
	return nil
}

// User authenticates the sender of the request, by token or by session.
func (d *Door) User(r *http.Request) (identity.User, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return identity.User{}, exchange.Fail(http.StatusUnauthorized, errLogin)
		}
		user, err := d.Auth.Recognise(r.Context(), identity.Token, token)
		return user, d.failed(r, err)
	}
	cookie, err := r.Cookie(exchange.Cookie)
	if err != nil {
		return identity.User{}, exchange.Fail(http.StatusUnauthorized, errLogin)
	}
	if err := checkOrigin(r); err != nil {
		return identity.User{}, err
	}
	user, err := d.Auth.Recognise(r.Context(), identity.Session, cookie.Value)
	return user, unauthorised(err)
}

// failed counts a wrong token, and reports when there were too many.
func (d *Door) failed(r *http.Request, err error) error {
	if !fault.Is(err, fault.Refused) {
		return err
	}
	if exchange.LetIn(r) { // it is no guess
		return unauthorised(err)
	}
	if wait := d.attempts.addresses.take(networkOf(r.RemoteAddr), d.Now()); wait > 0 {
		return exchange.Later(wait, errAttempts)
	}
	d.tellLogin(r, "", err)
	return unauthorised(err)
}

// unauthorised tells the caller that a login is needed.
func unauthorised(err error) error {
	if fault.Is(err, fault.Refused) {
		return exchange.Fail(http.StatusUnauthorized, err)
	}
	return err
}

// login accepts a token, or a name and password.
func (d *Door) login(w http.ResponseWriter, r *exchange.Request) error {
	r.Entry.Told = true // failures are recorded where they occur
	if err := sameOrigin(r.Request); err != nil {
		return err
	}
	var body transport.Secret
	if err := exchange.ReadJSON(w, r, &body); err != nil {
		return err
	}
	if body.Token == "" && (body.Name != "" || body.Password != "") {
		return d.loginByName(w, r, body.Name, body.Password)
	}
	secret, session, err := d.Auth.Login(r.Context(), body.Token)
	if err != nil {
		return d.failed(r.Request, err)
	}
	d.welcome(w, r, secret, session)
	return nil
}

// loginByName checks a password whose attempt is already counted.
func (d *Door) loginByName(w http.ResponseWriter, r *exchange.Request, name, password string) error {
	if d.People == nil {
		return exchange.Absent("people")
	}
	t, err := d.attempts.begin(r.Request, nameKey(name), d.Now())
	if err != nil {
		return err
	}
	secret, session, err := d.People.LoginByName(r.Context(), name, password)
	wrong := fault.Is(err, fault.Refused)
	t.end(wrong, d.Now())
	if wrong {
		d.tellLogin(r.Request, name, err)
		return unauthorised(err)
	}
	if err != nil {
		return err
	}
	t.greet(w, r.Request, d.Now())
	d.welcome(w, r, secret, session)
	return nil
}

// welcome creates a session after a login.
func (d *Door) welcome(w http.ResponseWriter, r *exchange.Request, secret string, session identity.Credential) {
	r.Entry = exchange.Entry{Actor: exchange.ActorOf(session.User), Subject: addressOf(r.RemoteAddr)}
	setCookie(w, r, secret, session)
	w.WriteHeader(http.StatusNoContent)
}

// sameOrigin refuses a login requested by another site.
func sameOrigin(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return exchange.Fail(http.StatusForbidden, errCross)
	}
	return nil
}

func setCookie(w http.ResponseWriter, r *exchange.Request, secret string, session identity.Credential) {
	http.SetCookie(w, &http.Cookie{
		Name: exchange.Cookie, Value: secret, Path: "/", Expires: session.Expires,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

func (d *Door) logout(w http.ResponseWriter, r *exchange.Request) error {
	cookie, err := r.Cookie(exchange.Cookie)
	if err == nil {
		if err := checkOrigin(r.Request); err != nil {
			return err
		}
		if err := d.Auth.Logout(r.Context(), cookie.Value); err != nil {
			return err
		}
	}
	http.SetCookie(w, &http.Cookie{
		Name: exchange.Cookie, Path: "/", MaxAge: -1,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// recordingUser returns the sender of a recording request: a caller with the role, or with a record-only token.
func (d *Door) recordingUser(r *http.Request, rt exchange.Route) (identity.User, error) {
	secret, given := recordSecret(r)
	if !given && d.shows(r) {
		user, err := d.Certified(r.TLS.PeerCertificates)
		return user, unauthorised(err)
	}
	if !given {
		user, err := d.User(r)
		return user, d.mayCall(user, rt, err)
	}
	user, err := d.Auth.Recognise(r.Context(), identity.Record, secret)
	if !fault.Is(err, fault.Refused) {
		return user, err
	}
	user, err = d.Auth.Recognise(r.Context(), identity.Token, secret)
	return user, d.mayCall(user, rt, d.failed(r, err))
}

// shows reports whether a request without a secret comes over a connection with a client certificate.
func (d *Door) shows(r *http.Request) bool {
	if d.Certified == nil || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return false
	}
	_, err := r.Cookie(exchange.Cookie)
	return err != nil
}

// member returns which member of the metering cluster sent a request.
func (d *Door) member(r *http.Request) (identity.User, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return identity.User{}, exchange.Fail(http.StatusForbidden, errMember)
	}
	user, err := d.Auth.Recognise(r.Context(), identity.Peer, token)
	if fault.Is(err, fault.Refused) {
		if other, known := d.Auth.Recognise(r.Context(), identity.Token, token); known == nil { // no guess: a token for another purpose
			return identity.User{}, fault.E("api.authorise", fault.Refused, other.Name, errMember)
		}
	}
	return user, d.failed(r, err)
}

var errMember = errors.New("this is for members of the metering cluster: send the header Authorization: Bearer <token> with a token that voltbus token create --member made here")

// recordSecret returns the token of a request as InfluxDB clients send it: Token <token>, also
// behind a user's name and a colon, as a password, or, to the address of version 1, as p.
func recordSecret(r *http.Request) (string, bool) {
	header := r.Header.Get("Authorization")
	if header == "" {
		if r.URL.Path != "/write" {
			return "", false
		}
		p := r.URL.Query().Get("p")
		return p, p != ""
	}
	if _, password, ok := r.BasicAuth(); ok {
		return password, true
	}
	scheme, token, _ := strings.Cut(header, " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return token, true
	case strings.EqualFold(scheme, "Token"):
		if _, password, ok := strings.Cut(token, ":"); ok {
			token = password
		}
		return token, true
	}
	return "", false
}

var (
	errCSRF  = errors.New("a change asked by a page needs the header X-Voltbus: 1, or must come from this node's own page")
	errCross = errors.New("another site asked for this; open this node's own page")
)

// checkOrigin refuses changes that another site made the browser send with our cookie.
func checkOrigin(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if r.Header.Get("Sec-Fetch-Site") == "same-origin" || r.Header.Get("X-Voltbus") == "1" {
		return nil
	}
	return exchange.Fail(http.StatusForbidden, errCSRF)
}

// tellLogin offers the use of an unknown secret to the audit log. The name is the claimed one.
func (d *Door) tellLogin(r *http.Request, name string, err error) {
	if d.Audit == nil {
		return
	}
	by := "token"
	if name != "" {
		by = "password"
	}
	detail, _ := json.Marshal(struct {
		Address string `json:"address"`
		By      string `json:"by"`
	}{addressOf(r.RemoteAddr), by}) // strings cannot fail
	d.Audit.Offer(audit.Entry{
		Actor: "unknown", Action: "login.failed", Subject: exchange.Clip(name), Outcome: exchange.Ending(err), Detail: detail, Time: d.Now(),
	})
}
