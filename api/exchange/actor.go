package exchange

import (
	"context"
	"strings"

	"voltbus/audit"
	"voltbus/identity"
)

// Ending says how something ended, without what is only for the log of the program.
func Ending(err error) string {
	if err == nil {
		return "ok"
	}
	p := ProblemOf(err, "")
	return p.Kind + ": " + p.Detail
}

// ActorOf is how the audit log and other nodes know a user.
func ActorOf(u identity.User) string {
	if name, ok := u.CertificateName(); ok {
		return "certificate:" + name
	}
	if name, ok := u.RecordName(); ok {
		return "token:" + name
	}
	if _, is := u.MemberName(); is {
		return u.Name
	}
	if node, is := strings.CutPrefix(u.Name, identity.ChildPrefix); is { // no person's name begins so
		return "node:" + node
	}
	if strings.Contains(u.Name, "/") { // nor can it hold that: somebody of another node
		if p, err := identity.ParsePrincipal(u.Name); err == nil && p.Node != "" {
			return u.Name
		}
	}
	return "person:" + u.Name
}

// Audit is the log of who did what. See audit.Log.
type Audit interface {
	Append(ctx context.Context, entries ...audit.Entry) error
	Offer(e audit.Entry)
	Gather(e audit.Entry)
}
