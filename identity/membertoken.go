package identity

import (
	"context"
	"errors"
	"strings"

	"voltbus/fault"
)

// memberPrefix is the prefix of the user names of other members of a metering cluster, so that they are not taken for people.
const memberPrefix = "member:"

var errMemberName = errors.New("a token for a member of a cluster needs the name of its node: up to 57 letters, digits, - and _")

// MemberName returns the name of the member of a cluster that the user stands for, and whether the user is one.
func (u User) MemberName() (string, bool) { return strings.CutPrefix(u.Name, memberPrefix) }

// MemberTokens creates tokens for other members of a cluster.
type MemberTokens struct{ Logins *Logins }

// IssueMember creates a token that identifies another member of a metering cluster here, and returns it in plain text. It
// cannot be shown again. A name in use gives fault.Conflict.
func (m MemberTokens) IssueMember(ctx context.Context, name string) (string, error) {
	user := User{Name: memberPrefix + name, Role: Nobody}
	if !IsNodeName(name) || len(user.Name) > maxUserName {
		return "", fault.E("identity.IssueMember", fault.Invalid, name, errMemberName)
	}
	return issue(ctx, m.Logins, user, Peer)
}
