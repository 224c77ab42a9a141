package exchange

import (
	"context"
	"strings"

	"voltbus/audit"
	"voltbus/identity"
)

// Ending describes how something ended, without the details that only the program's log gets.
func Ending(err error) string {
	if err == nil {
		return "ok"
	}
	p := ProblemOf(err, "")
	return p.Kind + ": " + p.Detail
}

// ActorOf returns a user's name for the audit log and for other nodes.
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
	if node, is := strings.CutPrefix(u.Name, identity.ChildPrefix); is { // no person's name has this prefix
		return "node:" + node
	}
	if strings.Contains(u.Name, "/") { // nor contains a slash: a user of another node
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
