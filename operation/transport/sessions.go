package transport

import (
	"voltbus/identity"
	"voltbus/operation"
)

// The arguments.
type (
	// Nothing is the arguments of operations without any.
	Nothing struct{}
	// Secret is a login: a token, or name and password.
	Secret struct {
		Token    string `json:"token" api:"max=1024"`
		Name     string `json:"name" api:"max=64"`
		Password string `json:"password" api:"max=256"`
	}
	// Passwords are the user's current password and its replacement.
	Passwords struct {
		Old string `json:"old" api:"required,max=256"`
		New string `json:"new" api:"required,min=10,max=256"`
	}
	// First is the first administrator.
	First struct {
		Administrator string `json:"administrator" api:"required,min=1,max=64" doc:"A name: letters, digits, and . _ @ - between them"`
		Password      string `json:"password" api:"required,min=10,max=256"`
	}
)

// The operations that begin and end sessions.
var (
	Login = operation.Declare[Secret, operation.None](operation.Spec{
		Name: "session.begin", ID: "login", HTTP: "POST /session", Role: identity.Nobody, Audited: true, Action: "login", Body: small, Carried: cookie,
		Summary: "Log in with a token, or with name and password; sets the cookie of a session", Result: "Logged in",
	})
	Logout = operation.Declare[Nothing, operation.None](operation.Spec{
		Name: "session.end", ID: "logout", HTTP: "DELETE /session", Role: identity.Nobody, Carried: cookie,
		Summary: "Log out; ends the session and removes the cookie", Result: "Logged out",
	})
	Password = operation.Declare[Passwords, operation.None](operation.Spec{
		Name: "session.password", ID: "changePassword", HTTP: "PUT /session/password", Role: identity.Viewer, Audited: true, Action: "person.password",
		Body: small, Carried: cookie,
		Summary: "Change one's own password; ends one's sessions and begins a new one", Result: "Changed; sets the cookie of the new session",
	})
	SetUp = operation.Declare[First, operation.None](operation.Spec{
		Name: "setup.admit", ID: "setUp", HTTP: "POST /setup", Role: identity.Administrator, Audited: true, Action: "setup", Body: small, Carried: cookie,
		Summary: "Admit the first administrator, with the token that the node's first start prints", Result: "Admitted; sets the cookie of the administrator's session",
		Doc: "409 when there is an administrator with a password already.",
	})
)

func sessions() []operation.Declared {
	return []operation.Declared{Login.Declared(), Logout.Declared(), Password.Declared(), SetUp.Declared()}
}
