package identity

import (
	"context"
	"errors"
	"strings"
	"time"

	"voltbus/fault"
)

// recordPrefix begins the user names of those who may only record, so that they are no people.
const recordPrefix = "record:"

// certificatePrefix begins the names of those who showed a certificate instead of a token.
const certificatePrefix = "certificate:"

// Certified is a program that showed a client certificate: it may record below a path, and nothing else.
func Certified(name, under string) User {
	return User{Name: recordPrefix + certificatePrefix + name, Role: Nobody, Under: under}
}

// CertificateName returns the name in the certificate that the user showed, and whether it was one.
func (u User) CertificateName() (string, bool) {
	return strings.CutPrefix(u.Name, recordPrefix+certificatePrefix)
}

// reservedRecord is where people's own tokens are in the API.
const reservedRecord = "own"

var (
	errRecordName = errors.New("a token needs a name of 1 to 57 characters, such as that of the program that shows it")
	errNoToken    = errors.New("there is no such token; voltbus token list shows them")
	errReserved   = errors.New("is reserved; choose another name")
	errTaken      = errors.New("there is a token of this name already; revoke it first, or choose another name")
)

// RecordName returns the name of the token for recording that the user stands for, and whether it is
// one.
func (u User) RecordName() (string, bool) { return strings.CutPrefix(u.Name, recordPrefix) }

// RecordToken describes a token that can record readings and do nothing else, or that of a member of a cluster.
type RecordToken struct {
	Name    string
	Purpose Purpose
	Under   string // the path below which it may record; "" for anywhere
	Created time.Time
}

// IssueRecord makes a token that can only record, below a path or, if under is "", anywhere, and
// returns it in clear. It cannot be shown again. A name in use gives fault.Conflict.
func (l *Logins) IssueRecord(ctx context.Context, name, under string) (string, error) {
	user := User{Name: recordPrefix + name, Role: Nobody, Under: strings.Trim(under, "/")}
	if name == reservedRecord || strings.HasPrefix(name, certificatePrefix) {
		return "", fault.E("identity.IssueRecord", fault.Invalid, name, errReserved)
	}
	if name == "" || len(user.Name) > maxUserName {
		return "", fault.E("identity.IssueRecord", fault.Invalid, name, errRecordName)
	}
	return issue(ctx, l, user, Record)
}

// issue makes a token of a purpose for a user that has none.
func issue(ctx context.Context, l *Logins, user User, purpose Purpose) (string, error) {
	const op = "identity.Issue"
	taken, err := l.accounts.Credentials(ctx, purpose)
	if err != nil {
		return "", err
	}
	for i := range taken {
		if taken[i].User.Name == user.Name {
			_, name, _ := strings.Cut(user.Name, ":")
			return "", fault.E(op, fault.Conflict, name, errTaken)
		}
	}
	secret := newSecret()
	hash, err := hashSecret(secret)
	if err != nil {
		return "", fault.E(op, fault.Internal, user.Name, err)
	}
	if err := l.accounts.PutUser(ctx, user); err != nil {
		return "", err
	}
	return secret, l.accounts.PutCredential(ctx, Credential{Hash: hash, User: user, Purpose: purpose, Created: l.now()})
}

// RecordTokens lists the tokens that can only record and those of members of a cluster, each by name.
func (l *Logins) RecordTokens(ctx context.Context) ([]RecordToken, error) {
	var tokens []RecordToken
	for _, purpose := range []Purpose{Record, Peer} {
		credentials, err := l.accounts.Credentials(ctx, purpose)
		if err != nil {
			return nil, err
		}
		for _, c := range credentials {
			_, name, _ := strings.Cut(c.User.Name, ":")
			tokens = append(tokens, RecordToken{Name: name, Purpose: purpose, Under: c.User.Under, Created: c.Created})
		}
	}
	return tokens, nil
}

// RevokeRecord ends the token for recording of a name at once; if there is none, that of the member; fault.NotFound if there is none either.
func (l *Logins) RevokeRecord(ctx context.Context, name string) error {
	tokens, err := l.RecordTokens(ctx)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if t.Name == name {
			return l.accounts.DropTokens(ctx, map[Purpose]string{Record: recordPrefix, Peer: memberPrefix}[t.Purpose]+name)
		}
	}
	return fault.E("identity.RevokeRecord", fault.NotFound, name, errNoToken)
}
