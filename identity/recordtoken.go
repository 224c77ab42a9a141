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

// RecordToken describes a token that can record readings and do nothing else.
type RecordToken struct {
	Name    string
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
	tokens, err := l.RecordTokens(ctx)
	if err != nil {
		return "", err
	}
	for _, t := range tokens {
		if t.Name == name {
			return "", fault.E("identity.IssueRecord", fault.Conflict, name, errTaken)
		}
	}
	secret := newSecret()
	hash, err := hashSecret(secret)
	if err != nil {
		return "", fault.E("identity.IssueRecord", fault.Internal, name, err)
	}
	if err := l.accounts.PutUser(ctx, user); err != nil {
		return "", err
	}
	return secret, l.accounts.PutCredential(ctx, Credential{Hash: hash, User: user, Purpose: Record, Created: l.now()})
}

// RecordTokens lists the tokens that can only record, by name.
func (l *Logins) RecordTokens(ctx context.Context) ([]RecordToken, error) {
	credentials, err := l.accounts.Credentials(ctx, Record)
	if err != nil {
		return nil, err
	}
	tokens := make([]RecordToken, 0, len(credentials))
	for _, c := range credentials {
		tokens = append(tokens, RecordToken{
			Name: strings.TrimPrefix(c.User.Name, recordPrefix), Under: c.User.Under, Created: c.Created,
		})
	}
	return tokens, nil
}

// RevokeRecord ends the token of the name at once; fault.NotFound if there is none.
func (l *Logins) RevokeRecord(ctx context.Context, name string) error {
	tokens, err := l.RecordTokens(ctx)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if t.Name == name {
			return l.accounts.DropTokens(ctx, recordPrefix+name)
		}
	}
	return fault.E("identity.RevokeRecord", fault.NotFound, name, errNoToken)
}
