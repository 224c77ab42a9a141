// Package people declares and carries out the operations on people who can log in. Sessions, which are cookies, concern HTTP alone:
// package api handles them.
package people

import (
	"context"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
)

// People are those who can log in, as in identity.Logins.
type People interface {
	People(ctx context.Context) ([]identity.Account, error)
	SetPerson(ctx context.Context, c identity.Change) (identity.Account, error)
	RemovePerson(ctx context.Context, name string) error
	NeedsSetup(ctx context.Context) (bool, error)
}

// The arguments.
type (
	// Person names a person.
	Person struct {
		Name string `json:"name" api:"required,judged,query,max=64"`
	}
	// Change changes a person.
	Change struct {
		Person
		Role     string `json:"role" api:"required,judged,schema=Role"`
		Password string `json:"password" api:"judged,max=256" doc:"10 to 256 bytes; left out to keep the one that is there"`
	}
)

// Who is logged in.
type Who struct {
	_    struct{} `api:"schema=Session"`
	User string   `json:"user"`
	Role string   `json:"role" api:"schema=Role"` // viewer, operator, engineer, administrator
	Zone string   `json:"time_zone,omitempty" doc:"The time zone of the site, such as Europe/Berlin; absent if none is configured"`
}

// The operations.
var (
	List = operation.Declare[struct{}, answer.People](operation.Spec{
		Name: "person.list", ID: "listPeople", HTTP: "GET /people", Role: identity.Administrator,
		Summary: "List everybody who can log in", Result: "By name",
	})
	Set = operation.Declare[Change, answer.Person](operation.Spec{
		Name: "person.set", HTTP: "PUT /people/{name}", Role: identity.Administrator, Audited: true, Body: 4 << 10,
		Summary: "Add a person, or change role and password", Result: "The person",
		Doc: "Names are without regard to case. A new password ends the person's sessions. 409 for the last administrator with a password, who cannot become less.",
	})
	Remove = operation.Declare[Person, operation.None](operation.Spec{
		Name: "person.remove", HTTP: "DELETE /people/{name}", Role: identity.Administrator, Audited: true,
		Summary: "Remove a person with all tokens and sessions",
	})
	Session = operation.Declare[struct{}, Who](operation.Spec{
		Name: "session.get", HTTP: "GET /session", Role: identity.Viewer,
		Summary: "Tell who is logged in", Result: "The user",
	})
	Setup = operation.Declare[struct{}, answer.Setup](operation.Spec{
		Name: "setup.get", HTTP: "GET /setup", Role: identity.Nobody,
		Summary: "Tell whether the node waits for its first administrator; open to everybody", Result: "The node",
	})
)

// Part carries out the operations on people.
type Part struct {
	People People // nil if nobody logs in by name
	Node   string // the node's name
	Zone   string // the time zone of the site, "" if none is configured
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{operation.Bind(List, nil, p.list), operation.Bind(Set, nil, p.set), operation.Bind(Remove, nil, p.remove)}
	if p.People == nil {
		list = operation.Absent(list)
	}
	return append(list, operation.Bind(Session, nil, p.session), operation.Bind(Setup, nil, p.setup))
}

func (p *Part) list(ctx context.Context, _ *operation.Call, _ *struct{}) (answer.People, error) {
	list, err := p.People.People(ctx)
	if err != nil {
		return answer.People{}, err
	}
	out := answer.People{People: make([]answer.Person, len(list))}
	for i := range list {
		out.People[i] = shown(&list[i])
	}
	return out, nil
}

func shown(a *identity.Account) answer.Person {
	return answer.Person{
		Name: a.Name, Role: a.Role.String(), Created: a.Created, Password: a.Password != "", Tokens: a.Tokens,
		Local: a.Name == identity.AdminName,
	}
}

func (p *Part) set(ctx context.Context, c *operation.Call, in *Change) (answer.Person, error) {
	c.Did(in.Name, map[string]any{"role": in.Role, "password": in.Password != ""})
	role, _ := identity.ParseRole(in.Role) // Nobody is refused
	a, err := p.People.SetPerson(ctx, identity.Change{Name: in.Name, Role: role, Password: in.Password})
	if err != nil {
		return answer.Person{}, err
	}
	return shown(&a), nil
}

func (p *Part) remove(ctx context.Context, c *operation.Call, in *Person) (operation.None, error) {
	c.Did(in.Name, nil)
	return operation.None{}, p.People.RemovePerson(ctx, in.Name)
}

func (p *Part) session(_ context.Context, c *operation.Call, _ *struct{}) (Who, error) {
	return Who{User: c.User(), Role: c.Role.String(), Zone: p.Zone}, nil
}

// setup tells every caller whether the node still lacks its first administrator.
func (p *Part) setup(ctx context.Context, _ *operation.Call, _ *struct{}) (out answer.Setup, err error) {
	if out.Node = p.Node; p.People != nil {
		out.Needed, err = p.People.NeedsSetup(ctx)
	}
	return out, err
}
