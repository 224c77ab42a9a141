package identity

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"voltbus/fault"
)

// maxOwnTokens is the maximum number of a person's own tokens.
const maxOwnTokens = 100

var (
	errOwnName    = fmt.Errorf("a token needs a name of 1 to %d printable characters, such as that of the program that shows it", maxUserName)
	errOwnTaken   = errors.New("you have a token of this name already; revoke it first, or choose another name")
	errOwnMany    = fmt.Errorf("you have %d tokens already; revoke some that are of no use any more", maxOwnTokens)
	errOwnExpires = errors.New("must be later than now; leave it out for a token without an end")
	errOwnOutlive = errors.New("must not be later than the end of the token that you show")
	errNoOwn      = errors.New("you have no such token; voltbus token own list shows those that you have")
)

// OwnToken describes a token that a person created for programs acting on their behalf.
type OwnToken struct {
	ID      string // identifies it, for revocation
	Name    string
	Role    Role // the most it may do; the user's role, if that is now lower
	Created time.Time
	Expires time.Time // zero: never
}

// Shown is a secret presented with a request, and its kind: Token or Session.
type Shown struct {
	Purpose Purpose
	Secret  string
}

// IssueOwn creates a token for the user who presents a secret, with the name, role and expiry of t, and
// returns it in plain text; it cannot be shown again. A role above the caller's gives fault.Refused. A token
// created with another token ends with that one.
func (l *Logins) IssueOwn(ctx context.Context, by Shown, t OwnToken) (string, OwnToken, error) {
	const op = "identity.IssueOwn"
	shown, err := l.credential(ctx, by.Purpose, by.Secret)
	if err != nil {
		return "", OwnToken{}, err
	}
	t.Name, t.Created = strings.TrimSpace(t.Name), l.now()
	if err := t.validate(shown.User); err != nil {
		return "", OwnToken{}, err
	}
	parent, err := l.maker(ctx, shown)
	if err != nil {
		return "", OwnToken{}, err
	}
	if end := parent.Expires; !end.IsZero() && (t.Expires.IsZero() || t.Expires.After(end)) {
		return "", OwnToken{}, fault.E(op, fault.Refused, "expires", errOwnOutlive)
	}
	l.people.Lock()
	defer l.people.Unlock()
	if err := l.room(ctx, shown.User.Name, t.Name); err != nil {
		return "", OwnToken{}, err
	}
	t.ID = newTokenID()
	secret := newSecret()
	hash, err := hashSecret(secret)
	if err != nil {
		return "", OwnToken{}, fault.E(op, fault.Internal, t.Name, err)
	}
	return secret, t, l.accounts.PutCredential(ctx, Credential{
		Hash: hash, User: shown.User, Purpose: Token, Parent: parent.Hash, Created: t.Created, Expires: t.Expires,
		ID: t.ID, Name: t.Name, Most: t.Role,
	})
}

// validate returns what is wrong with a token that a user requests.
func (t *OwnToken) validate(u User) error {
	const op = "identity.IssueOwn"
	switch {
	case t.Name == "" || len(t.Name) > maxUserName || strings.ContainsFunc(t.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fault.E(op, fault.Invalid, "name", errOwnName)
	case t.Role == Nobody:
		return fault.E(op, fault.Invalid, "role", errPersonRole)
	case !u.Role.Includes(t.Role):
		return fault.E(op, fault.Refused, "role", fmt.Errorf("you act as %v here, and cannot give a token the role %v; choose yours or a lower one", u.Role, t.Role))
	case !t.Expires.IsZero() && !t.Expires.After(t.Created):
		return fault.E(op, fault.Invalid, "expires", errOwnExpires)
	}
	return nil
}

// maker returns the token that creates a token: the one presented, or the one that opened the session; the
// zero Credential for a session opened by a password.
func (l *Logins) maker(ctx context.Context, shown Credential) (Credential, error) {
	switch {
	case shown.Purpose == Token:
		return shown, nil
	case shown.Parent == Hash{}:
		return Credential{}, nil
	}
	return l.accounts.Credential(ctx, shown.Parent)
}

// room refuses a name that is taken, and too many tokens.
func (l *Logins) room(ctx context.Context, user, name string) error {
	if err := l.accounts.DropExpired(ctx, l.now()); err != nil {
		return err
	}
	list, err := l.OwnTokens(ctx, user)
	if err != nil {
		return err
	}
	if len(list) >= maxOwnTokens {
		return fault.E("identity.IssueOwn", fault.Conflict, name, errOwnMany)
	}
	for _, t := range list {
		if t.Name == name {
			return fault.E("identity.IssueOwn", fault.Conflict, name, errOwnTaken)
		}
	}
	return nil
}

// OwnTokens lists the tokens that a user created for programs, by age. Expired ones may be among them.
func (l *Logins) OwnTokens(ctx context.Context, user string) ([]OwnToken, error) {
	credentials, err := l.accounts.CredentialsOf(ctx, user)
	if err != nil {
		return nil, err
	}
	var list []OwnToken
	for i := range credentials {
		if c := &credentials[i]; c.Purpose == Token && c.ID != "" {
			list = append(list, OwnToken{ID: c.ID, Name: c.Name, Role: c.User.Role, Created: c.Created, Expires: c.Expires})
		}
	}
	return list, nil
}

// RevokeOwn ends a token of the user at once, with the sessions and tokens created with it, and returns its
// description; fault.NotFound if the user has no token with this id.
func (l *Logins) RevokeOwn(ctx context.Context, user, id string) (OwnToken, error) {
	credentials, err := l.accounts.CredentialsOf(ctx, user)
	if err != nil {
		return OwnToken{}, err
	}
	for i := range credentials {
		if c := &credentials[i]; c.ID != "" && c.ID == id {
			return OwnToken{ID: c.ID, Name: c.Name, Role: c.User.Role, Created: c.Created, Expires: c.Expires}, l.accounts.DropCredential(ctx, c.Hash)
		}
	}
	return OwnToken{}, fault.E("identity.RevokeOwn", fault.NotFound, id, errNoOwn)
}

// newTokenID returns 8 random bytes in hex: a name, not a secret.
func newTokenID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails, see its documentation
	return hex.EncodeToString(b)
}
