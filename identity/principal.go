package identity

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"voltbus/fault"
)

// The kinds of Principal.
const (
	AgentKind  = "agent"
	PersonKind = "person"
	// ApplicationKind is a program outside that may command a few points, see package broker/application.
	ApplicationKind = "application"
	// ScheduleKind is a schedule of this node, see package schedule.
	ScheduleKind = "schedule"
)

// Principal is the origin of a request: an agent, a person or an application of this node, or of another one. Those of this
// node are written agent:weather and person:ada, those of another node agent:campus/weather and
// person:campus/ada; no local name contains a slash, so they cannot be confused. The zero Principal is
// unknown.
type Principal struct {
	Kind string
	Name string
	Node string // the name of the node on which it is; "" for this one
}

// MaxPrincipal is the maximum length of a written Principal in bytes.
const MaxPrincipal = len(ApplicationKind) + len(":/") + 2*maxUserName

// anyNode matches a node name as given by configurations and parents.
var anyNode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// IsNodeName reports whether a node of the tree, including the root, can have the name.
func IsNodeName(name string) bool { return anyNode.MatchString(name) }

var errPrincipal = errors.New("is nobody who can ask: write agent, person or application, a colon, the node and a slash unless it is this one, and the name")

// ParsePrincipal is the inverse of String. Anything else is fault.Invalid.
func ParsePrincipal(text string) (Principal, error) {
	kind, rest, _ := strings.Cut(text, ":")
	p := Principal{Kind: kind, Name: rest}
	node, name, far := strings.Cut(rest, "/")
	if far {
		p.Node, p.Name = node, name
	}
	if len(text) > MaxPrincipal || (far && !IsNodeName(p.Node)) || !p.named() {
		return Principal{}, fault.E("identity.ParsePrincipal", fault.Invalid, fmt.Sprintf("%.80q", text), errPrincipal)
	}
	return p, nil
}

// named reports whether a principal of the kind can have the name.
func (p *Principal) named() bool {
	switch p.Kind {
	case AgentKind, ApplicationKind, ScheduleKind:
		return CheckAgentName(p.Name) == nil
	case PersonKind:
		return checkName(p.Name) == nil
	}
	return false
}

// String writes the principal as one word; "" for nobody.
func (p Principal) String() string {
	switch {
	case p == Principal{}:
		return ""
	case p.Node == "":
		return p.Kind + ":" + p.Name
	}
	return p.Kind + ":" + p.Node + "/" + p.Name
}

// At returns the principal as another node knows it, for which this node, or the principal's, has the name
// node.
func (p Principal) At(node string) Principal {
	p.Node = node
	return p
}

// SamePerson reports whether two written principals must be taken for one person: an account of the same name
// at another node does not count as a second person.
func SamePerson(a, b string) bool {
	p, err := ParsePrincipal(a)
	q, wrong := ParsePrincipal(b)
	if err != nil || wrong != nil || p.Kind != PersonKind || q.Kind != PersonKind {
		return a == b
	}
	return strings.EqualFold(p.Name, q.Name)
}
