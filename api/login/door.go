// Package login identifies the sender of a request: by a token, by a browser session, or by name and password. Guesses are counted before
// they are checked, and strangers lock nobody out.
package login

import (
	"context"
	"crypto/x509"
	"time"

	"voltbus/api/exchange"
	"voltbus/identity"
	"voltbus/operation/transport"
)

// Auth authenticates users.
type Auth interface {
	Recognise(ctx context.Context, purpose identity.Purpose, secret string) (identity.User, error)
	Login(ctx context.Context, token string) (secret string, session identity.Credential, err error)
	Logout(ctx context.Context, secret string) error
}

// Config is what a Door needs.
type Config struct {
	Auth   Auth
	People People         // nil: no login by name
	Audit  exchange.Audit // nil: wrong secrets are not audited
	Now    func() time.Time
	// Certified recognises callers with a client certificate and no other secret; nil: client certificates identify nobody.
	Certified  func(chain []*x509.Certificate) (identity.User, error)
	BrowserKey []byte // key for recognising browsers that have logged in; nil: a new one at each start
}

// Door authenticates people and programs. It is safe for concurrent use.
type Door struct {
	Config
	attempts *attempts
}

// New returns a Door.
func New(c Config) *Door { return &Door{Config: c, attempts: newAttempts(c.BrowserKey)} }

// Routes are the routes for logging in and out.
func (d *Door) Routes() []exchange.Route {
	return []exchange.Route{
		exchange.Carried(transport.Login, d.login), exchange.Carried(transport.Logout, d.logout),
		exchange.Carried(transport.Password, d.changePassword), exchange.Carried(transport.SetUp, d.setUp),
	}
}
