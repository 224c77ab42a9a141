package identity

import (
	"context"
	"errors"
	"strings"
	"time"

	"voltbus/fault"
)

// recordPrefix is the prefix of the user names of record-only tokens, so that they are not taken for people.
const recordPrefix = "record:"

// certificatePrefix is the prefix of the names of programs that presented a certificate instead of a token.
const certificatePrefix = "certificate:"

// Certified returns the user for a program that presented a client certificate: it may only record, below a path.
func Certified(name, under string) User {
	return User{Name: recordPrefix + certificatePrefix + name, Role: Nobody, Under: under}
}

// CertificateName returns the name in the certificate that the user presented, and whether there was one.
func (u User) CertificateName() (string, bool) {
	return strings.CutPrefix(u.Name, recordPrefix+certificatePrefix)
}

// reservedRecord is the path of people's own tokens in the API.
const reservedRecord = "own"

var (
	errRecordName = errors.New("a token needs a name of 1 to 57 characters, such as that of the program that shows it")
	errNoToken    = errors.New("there is no such token; voltbus token list shows them")
	errReserved   = errors.New("is reserved; choose another name")
	errTaken      = errors.New("there is a token of this name already; revoke it first, or choose another name")
)

// RecordName returns the name of the record-only token that the user represents, and whether it is one.
func (u User) RecordName() (string, bool) { return strings.CutPrefix(u.Name, recordPrefix) }

// RecordToken describes a record-only token, or that of a cluster member.
type RecordToken struct {
	Name    string
	Purpose Purpose
	Under   string // the path below which it may record; "" for anywhere
	Created time.Time
}

// IssueRecord creates a record-only token, for a path or, if under is "", for anywhere, and returns it in
// plain text. It cannot be shown again. A name in use gives fault.Conflict.
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

// issue creates a token for a purpose, for a user that has none.
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

// RecordTokens lists the record-only tokens and those of cluster members, each by name.
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

// RevokeRecord ends the record-only token of a name at once, or else the token of the member of that name; fault.NotFound if there is neither.
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
