package identity

import (
	"context"
	"errors"
	"sync"
	"time"

	"voltbus/fault"
)

// SessionLife is how long a login lasts.
const SessionLife = 12 * time.Hour

var (
	errUnknownSecret = errors.New("this token is not known here; the administrator's stands in admin.token of the data directory")
	errExpired       = errors.New("the session or token has ended; log in again, or make another token")
	errNoUser        = errors.New("a user needs a name of 1 to 64 characters and a role")
)

const maxUserName = 64

// Logins authenticates people and programs by their secrets. It is safe for concurrent use.
type Logins struct {
	accounts Accounts
	now      func() time.Time
	people   sync.Mutex // one change of people at a time: so that there is always an administrator
	hashing  hashing
}

// NewLogins returns the logins of the accounts. now is the clock, such as time.Now.
func NewLogins(accounts Accounts, now func() time.Time) *Logins {
	return &Logins{accounts: accounts, now: now, hashing: newHashing()}
}

// Issue creates a token for the user, who is added with the role or changed to it, and returns it in plain
// text. It cannot be shown again.
func (l *Logins) Issue(ctx context.Context, u User) (string, error) {
	secret := newSecret()
	return secret, l.admit(ctx, u, secret)
}

func (l *Logins) admit(ctx context.Context, u User, secret string) error {
	if u.Name == "" || len(u.Name) > maxUserName || u.Role == Nobody {
		return fault.E("identity.Issue", fault.Invalid, u.Name, errNoUser)
	}
	hash, err := hashSecret(secret)
	if err != nil {
		return fault.E("identity.Issue", fault.Invalid, u.Name, err)
	}
	if err := l.accounts.PutUser(ctx, u); err != nil {
		return err
	}
	return l.accounts.PutCredential(ctx, Credential{Hash: hash, User: u, Purpose: Token, Created: l.now()})
}

// Recognise returns the user who presents the secret for the purpose. A secret that is unknown, expired or
// for another purpose gives fault.Refused.
func (l *Logins) Recognise(ctx context.Context, purpose Purpose, secret string) (User, error) {
	c, err := l.credential(ctx, purpose, secret)
	return c.User, err
}

func (l *Logins) credential(ctx context.Context, purpose Purpose, secret string) (Credential, error) {
	hash, err := hashSecret(secret)
	if err != nil {
		return Credential{}, fault.E("identity.Recognise", fault.Refused, "", err)
	}
	c, err := l.accounts.Credential(ctx, hash)
	switch {
	case fault.Is(err, fault.NotFound):
		return Credential{}, fault.E("identity.Recognise", fault.Refused, "", errUnknownSecret)
	case err != nil:
		return Credential{}, err
	case c.Purpose != purpose:
		return Credential{}, fault.E("identity.Recognise", fault.Refused, "", errUnknownSecret)
	case !c.Expires.IsZero() && !l.now().Before(c.Expires):
		return Credential{}, fault.E("identity.Recognise", fault.Refused, c.User.Name, errExpired)
	}
	return c, nil
}

// Login exchanges a token for a session that expires, and returns its secret. Dropping the token ends the
// session too.
func (l *Logins) Login(ctx context.Context, token string) (secret string, session Credential, err error) {
	parent, err := l.credential(ctx, Token, token)
	if err != nil {
		return "", Credential{}, err
	}
	return l.begin(ctx, parent.User, parent)
}

// begin creates a session for the user, which ends with its parent and has no more rights; the zero
// Credential means no parent.
func (l *Logins) begin(ctx context.Context, u User, parent Credential) (secret string, session Credential, err error) {
	now := l.now()
	if err := l.accounts.DropExpired(ctx, now); err != nil {
		return "", Credential{}, err
	}
	secret = newSecret()
	hash, err := hashSecret(secret)
	if err != nil {
		return "", Credential{}, fault.E("identity.Login", fault.Internal, u.Name, err)
	}
	session = Credential{
		Hash: hash, User: u, Purpose: Session, Parent: parent.Hash, Most: parent.Most,
		Created: now, Expires: now.Add(SessionLife),
	}
	if end := parent.Expires; !end.IsZero() && end.Before(session.Expires) {
		session.Expires = end
	}
	return secret, session, l.accounts.PutCredential(ctx, session)
}

// Logout ends the session. It is no error if there is none.
func (l *Logins) Logout(ctx context.Context, secret string) error {
	hash, err := hashSecret(secret)
	if err != nil {
		return nil //nolint:nilerr // what is not a secret is not a session either
	}
	return l.accounts.DropCredential(ctx, hash)
}
