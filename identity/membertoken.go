package identity

import (
	"context"
	"errors"
	"strings"

	"voltbus/fault"
)

// memberPrefix begins the user names of other members of a cluster of metering data systems, so that they are no people.
const memberPrefix = "member:"

var errMemberName = errors.New("a token for a member of a cluster needs the name of its node: up to 57 letters, digits, - and _")

// MemberName returns the name of the member of a cluster that the user stands for, and whether it is one.
func (u User) MemberName() (string, bool) { return strings.CutPrefix(u.Name, memberPrefix) }

// MemberTokens makes tokens for other members of a cluster.
type MemberTokens struct{ Logins *Logins }

// IssueMember makes a token by which another member of a cluster of metering data systems is known here, and returns it in
// clear. It cannot be shown again. A name in use gives fault.Conflict.
func (m MemberTokens) IssueMember(ctx context.Context, name string) (string, error) {
	user := User{Name: memberPrefix + name, Role: Nobody}
	if !IsNodeName(name) || len(user.Name) > maxUserName {
		return "", fault.E("identity.IssueMember", fault.Invalid, name, errMemberName)
	}
	return issue(ctx, m.Logins, user, Peer)
}
