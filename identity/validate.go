package identity

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/point"
)

// Maximum sizes of grants: the bus keeps them as subjects, for each connection.
const (
	maxGrants   = 1000
	maxWhere    = 50
	maxGrantKey = 128 // bytes of the name of a method, an argument or a capability
	maxLevel    = 16
)

// nodeName is the name of the node on the bus.
const nodeName = "node"

// Prefixes of the names of nodes and invitations on the bus. No agent's name begins with them.
const (
	ChildPrefix  = "@" // + the child's name
	InvitePrefix = "+" // + the invitation's ID
)

var nodeNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

var agentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

var (
	errChildName = errors.New("a node's name has 1 to 64 letters, digits, and - _ after the first")
	errAgentName = errors.New("an agent's name has 1 to 64 letters, digits, and . _ - after the first")
	errNodeName  = errors.New("is what the node itself is called; choose another name")
	errEverybody = errors.New(`is empty; write ** for everything`)
	errWhole     = errors.New(`"*" must be a whole segment here, as in campus/*/temp`)
	errDeepLast  = errors.New(`"**" must be the last segment here, as in campus/**`)
	errOpenEnd   = errors.New(`"*" cannot be the last segment here; write ** for all below, or the name`)
	errLevel     = errors.New("must be 1, the most urgent, to 16")
	errKey       = fmt.Errorf("needs 1 to %d characters, none of them control characters", maxGrantKey)
	errMany      = fmt.Errorf("are more than %d; use patterns", maxGrants)
)

// CheckChildName returns nil, or a fault.Invalid error that describes valid names.
func CheckChildName(name string) error {
	if !nodeNames.MatchString(name) || name == nodeName {
		return fault.E("identity.CheckChildName", fault.Invalid, "name", errChildName)
	}
	return nil
}

// CheckAgentName returns nil, or a fault.Invalid error that describes valid names.
func CheckAgentName(name string) error {
	switch {
	case name == nodeName:
		return fault.E("identity.CheckAgentName", fault.Invalid, name, errNodeName)
	case !agentName.MatchString(name):
		return fault.E("identity.CheckAgentName", fault.Invalid, "name", errAgentName)
	}
	return nil
}

// Validate returns all problems, each with its position, such as "publish[2]: …".
func (g *Grants) Validate() []error {
	v := &validation{}
	v.patterns("publish", g.Publish, checkPublish)
	v.patterns("record", g.Record, checkPattern)
	v.patterns("subscribe", g.Subscribe, checkSubscribe)
	v.patterns("read", g.Read, checkPattern)
	v.count("command", len(g.Command))
	for i := range g.Command {
		v.command(fmt.Sprintf("command[%d]", i), &g.Command[i])
	}
	v.count("call", len(g.Call))
	for i, c := range g.Call {
		at := fmt.Sprintf("call[%d]", i)
		v.add(at+".agent", checkCallee(c.Agent))
		if c.Method != "" {
			v.key(at+".method", c.Method)
		}
		v.where(at+".where", c.Where)
	}
	v.count("hold", len(g.Hold))
	for i, h := range g.Hold {
		at := fmt.Sprintf("hold[%d]", i)
		v.key(at+".name", h.Name)
		v.where(at+".where", h.Where)
	}
	return v.problems
}

// CheckGrants returns nil, or all problems of the grants as one fault.Invalid error.
func CheckGrants(g *Grants) error {
	if problems := g.Validate(); len(problems) > 0 {
		return fault.E("identity.CheckGrants", fault.Invalid, "grants", errors.Join(problems...))
	}
	return nil
}

var errCallee = errors.New("an agent of another node is written node/agent, where * stands for any")

// checkCallee checks a callee: an agent, the node, or one of another node.
func checkCallee(name string) error {
	node, agent, remote := strings.Cut(name, "/")
	if !remote {
		agent = node
	} else if node != "*" && !nodeNames.MatchString(node) {
		return fault.E("identity.checkCallee", fault.Invalid, "agent", errCallee)
	}
	if agent == nodeName || (remote && agent == "*") {
		return nil
	}
	return CheckAgentName(agent)
}

// validation collects problems.
type validation struct{ problems []error }

func (v *validation) add(at string, err error) {
	if err != nil {
		v.problems = append(v.problems, fmt.Errorf("%s: %w", at, err))
	}
}

func (v *validation) count(at string, n int) {
	if n > maxGrants {
		v.add(at, errMany)
	}
}

func (v *validation) patterns(at string, list []point.Pattern, check func(point.Pattern) error) {
	v.count(at, len(list))
	for i, p := range list {
		v.add(fmt.Sprintf("%s[%d]", at, i), check(p))
	}
}

func checkPattern(p point.Pattern) error {
	if p == "" {
		return errEverybody
	}
	return point.Path(p).Validate()
}

// checkPublish checks a pattern enforced by the bus server, which knows only subjects.
func checkPublish(p point.Pattern) error {
	if err := checkPattern(p); err != nil {
		return err
	}
	segments := strings.Split(string(p), "/")
	for i, s := range segments {
		switch {
		case s == "**" && i < len(segments)-1:
			return errDeepLast
		case s != "*" && s != "**" && strings.Contains(s, "*"):
			return errWhole
		}
	}
	return nil
}

// checkSubscribe is checkPublish for subscriptions. The server treats the ">" of a subscription as an
// ordinary segment, so "*" at the end would match everything below.
func checkSubscribe(p point.Pattern) error {
	if p == "*" || strings.HasSuffix(string(p), "/*") {
		return errOpenEnd
	}
	return checkPublish(p)
}

func (v *validation) command(at string, c *CommandGrant) {
	v.add(at+".path", checkPattern(c.Path))
	if c.Level < 1 || c.Level > maxLevel {
		v.add(at+".level", errLevel)
	}
	v.bounds(at, c.Min, c.Max)
}

func (v *validation) bounds(at string, low, high *float64) {
	for name, b := range map[string]*float64{"min": low, "max": high} {
		if b != nil && (math.IsNaN(*b) || math.IsInf(*b, 0)) {
			v.add(at+"."+name, errors.New("must be a number; leave it away for no bound"))
		}
	}
	if low != nil && high != nil && *low > *high {
		v.add(at, errors.New("min is above max; exchange them"))
	}
}

func (v *validation) key(at, text string) {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f }
	if text == "" || len(text) > maxGrantKey || !utf8.ValidString(text) || strings.ContainsFunc(text, bad) {
		v.add(at, errKey)
	}
}

func (v *validation) where(at string, w Constraints) {
	if len(w) > maxWhere {
		v.add(at, fmt.Errorf("restricts more than %d arguments", maxWhere))
	}
	for name, c := range w {
		here := at + "." + name
		v.key(here, name)
		switch {
		case c.Pattern != "":
			v.add(here, checkPattern(c.Pattern))
		case c.Values != nil:
			if slices.ContainsFunc(c.Values, func(x any) bool { return !scalar(x) }) {
				v.add(here, errors.New("the values of a list must be texts, numbers or true and false"))
			}
		case c.Min == nil && c.Max == nil:
			v.add(here, errRange)
		default:
			v.bounds(here, c.Min, c.Max)
		}
	}
}

func scalar(x any) bool {
	switch x.(type) {
	case string, bool:
		return true
	}
	_, ok := number(x)
	return ok
}
