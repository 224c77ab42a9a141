package api

import (
	"context"
	"errors"
	"net/http"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
)

// People are those who can log in. Names are without regard to case.
type People interface {
	People(ctx context.Context) ([]identity.Account, error)
	SetPerson(ctx context.Context, c identity.Change) (identity.Account, error)
	RemovePerson(ctx context.Context, name string) error
	LoginByName(ctx context.Context, name, password string) (secret string, session identity.Credential, err error)
	ChangePassword(ctx context.Context, name, old, password string) error
	NeedsSetup(ctx context.Context) (bool, error)
	SetUp(ctx context.Context, name, password string) (identity.User, error)
}

func peopleRoutes() []route {
	const administrator = identity.Administrator
	return []route{
		{method: "GET", path: prefix + "/people", role: administrator, serve: (*server).people},
		{method: "PUT", path: prefix + "/people/{name}", role: administrator, body: loginBody, serve: (*server).setPerson, audit: "person.set"},
		{method: "DELETE", path: prefix + "/people/{name}", role: administrator, serve: (*server).removePerson, audit: "person.remove"},
		{method: "PUT", path: prefix + "/session/password", role: identity.Viewer, body: loginBody, serve: (*server).changePassword, audit: "person.password"},
		{method: "GET", path: prefix + "/setup", serve: (*server).setup},
		{method: "POST", path: prefix + "/setup", role: administrator, body: loginBody, serve: (*server).setUp, audit: "setup"},
	}
}

func (s *server) people(w http.ResponseWriter, r *request) error {
	if s.cfg.People == nil {
		return absent("people")
	}
	list, err := s.cfg.People.People(r.Context())
	if err != nil {
		return err
	}
	out := answer.People{People: make([]answer.Person, len(list))}
	for i := range list {
		out.People[i] = person(&list[i])
	}
	return writeJSON(w, out)
}

func person(a *identity.Account) answer.Person {
	return answer.Person{
		Name: a.Name, Role: a.Role.String(), Created: a.Created, Password: a.Password != "", Tokens: a.Tokens,
		Local: a.Name == identity.AdminName,
	}
}

var errRole = errors.New("must be viewer, operator, engineer or administrator")

func (s *server) setPerson(w http.ResponseWriter, r *request) error {
	if s.cfg.People == nil {
		return absent("people")
	}
	in := s.read(r)
	c := identity.Change{Name: in.segment("name")}
	if in.err != nil {
		return in.err
	}
	var body struct {
		Role     string `json:"role"`
		Password string `json:"password"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(c.Name, map[string]any{"role": body.Role, "password": body.Password != ""})
	role, ok := identity.ParseRole(body.Role)
	if !ok || role == identity.Nobody {
		return fault.E("api.setPerson", fault.Invalid, "role", errRole)
	}
	c.Role, c.Password = role, body.Password
	a, err := s.cfg.People.SetPerson(r.Context(), c)
	if err != nil {
		return err
	}
	return writeJSON(w, person(&a))
}

func (s *server) removePerson(w http.ResponseWriter, r *request) error {
	if s.cfg.People == nil {
		return absent("people")
	}
	in := s.read(r)
	name := in.segment("name")
	if in.err != nil {
		return in.err
	}
	r.did(name, nil)
	if err := s.cfg.People.RemovePerson(r.Context(), name); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// changePassword ends all sessions of the user, and begins a new one for this one. A wrong old
// password counts as a wrong login.
func (s *server) changePassword(w http.ResponseWriter, r *request) error {
	if s.cfg.People == nil {
		return absent("people")
	}
	var body struct {
		Old string `json:"old"`
		New string `json:"new"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(r.user.Name, nil)
	mine := "person " + nameKey(r.user.Name) // of who has logged in: nobody else uses it up
	if wait := s.attempts.browsers.take(mine, s.cfg.Now()); wait > 0 {
		return &waitError{wait, errGuessed}
	}
	err := s.cfg.People.ChangePassword(r.Context(), r.user.Name, body.Old, body.New)
	if !fault.Is(err, fault.Refused) {
		s.attempts.browsers.refund(mine, s.cfg.Now())
	}
	if err != nil {
		return err
	}
	return s.enter(w, r, r.user.Name, body.New)
}

// enter begins a session for somebody whose password was just set.
func (s *server) enter(w http.ResponseWriter, r *request, name, password string) error {
	secret, session, err := s.cfg.People.LoginByName(r.Context(), name, password)
	if err != nil {
		return err
	}
	setCookie(w, r, secret, session)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// setup tells everybody whether the node waits for its first administrator.
func (s *server) setup(w http.ResponseWriter, r *request) error {
	out := answer.Setup{Node: s.cfg.Node}
	if s.cfg.People != nil {
		var err error
		if out.Needed, err = s.cfg.People.NeedsSetup(r.Context()); err != nil {
			return err
		}
	}
	return writeJSON(w, out)
}

// setUp admits the first administrator. Who may is who has the local administrator's token.
func (s *server) setUp(w http.ResponseWriter, r *request) error {
	if s.cfg.People == nil {
		return absent("people")
	}
	var body struct {
		Administrator string `json:"administrator"`
		Password      string `json:"password"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(body.Administrator, nil)
	u, err := s.cfg.People.SetUp(r.Context(), body.Administrator, body.Password)
	if err != nil {
		return err
	}
	return s.enter(w, r, u.Name, body.Password)
}
