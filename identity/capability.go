package identity

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"voltbus/fault"
	"voltbus/point"
)

var (
	errVerb    = errors.New("a capability begins with publish, record, subscribe, read, command, call, hold, administer")
	errCommand = errors.New("write the points and the most urgent level, such as command campus/b1/ahu1@8")
	errObject  = errors.New("says nothing of what it is for; add a pattern or a name")
	errBare    = errors.New("administer stands alone: it is everything")
)

// ParseCapability parses a capability in the form of error messages, two words such as "publish" and
// "analysis/x", to grants of just that. The caller adds constraints on values.
func ParseCapability(verb, object string) (Grants, error) {
	const op = "identity.ParseCapability"
	switch {
	case verb == "administer" && object != "":
		return Grants{}, fault.E(op, fault.Invalid, verb, errBare)
	case verb == "administer":
		return Grants{Administer: true}, nil
	case object == "":
		return Grants{}, fault.E(op, fault.Invalid, verb, errObject)
	}
	switch verb {
	case "publish":
		return Grants{Publish: []point.Pattern{point.Pattern(object)}}, nil
	case "record":
		return Grants{Record: []point.Pattern{point.Pattern(object)}}, nil
	case "subscribe":
		return Grants{Subscribe: []point.Pattern{point.Pattern(object)}}, nil
	case "read":
		return Grants{Read: []point.Pattern{point.Pattern(object)}}, nil
	case "call":
		agent, method, _ := strings.Cut(object, ":")
		return Grants{Call: []CallGrant{{Agent: agent, Method: method}}}, nil
	case "hold":
		return Grants{Hold: []CapabilityGrant{{Name: object}}}, nil
	case "command":
		return parseCommand(object)
	}
	return Grants{}, fault.E(op, fault.Invalid, verb, errVerb)
}

func parseCommand(object string) (Grants, error) {
	at := strings.LastIndexByte(object, '@')
	level, err := strconv.Atoi(object[at+1:])
	if at < 0 || err != nil {
		return Grants{}, fault.E("identity.ParseCapability", fault.Invalid, object, errCommand)
	}
	return Grants{Command: []CommandGrant{{Path: point.Pattern(object[:at]), Level: level}}}, nil
}

// Capabilities lists the grants in words, one per line, each followed by its constraints.
func (g *Grants) Capabilities() []string { return g.words(true) }

// words lists the grants in the form of ParseCapability, or with their constraints.
func (g *Grants) words(restricted bool) []string {
	var list []string
	for _, part := range []struct {
		verb     string
		patterns []point.Pattern
	}{{"publish", g.Publish}, {"record", g.Record}, {"subscribe", g.Subscribe}, {"read", g.Read}} {
		for _, p := range part.patterns {
			list = append(list, part.verb+" "+string(p))
		}
	}
	for _, c := range g.Command {
		text := commandText(point.Path(c.Path), c.Level)
		if restricted && (c.Min != nil || c.Max != nil) {
			text += " value " + span(c.Min, c.Max)
		}
		list = append(list, text)
	}
	for _, c := range g.Call {
		text := "call " + c.Agent
		if c.Method != "" {
			text += ":" + c.Method
		}
		list = append(list, text+c.Where.text(restricted))
	}
	for _, h := range g.Hold {
		list = append(list, "hold "+h.Name+h.Where.text(restricted))
	}
	if g.Administer {
		list = append(list, "administer")
	}
	return list
}

// text returns the conditions in words, with a space before; "" without any, or if not wanted.
func (w Constraints) text(wanted bool) string {
	var b strings.Builder
	if !wanted {
		return ""
	}
	for i, name := range slices.Sorted(maps.Keys(w)) {
		sep := " where "
		if i > 0 {
			sep = " and "
		}
		c, err := json.Marshal(w[name])
		if err != nil {
			c = []byte("?")
		}
		b.WriteString(sep + name + " = " + string(c))
	}
	return b.String()
}

// With returns the grants and those of more. A command, call or capability that is already granted gets the
// new constraints.
func (g Grants) With(more Grants) Grants {
	return Grants{
		Publish: union(g.Publish, more.Publish), Record: union(g.Record, more.Record),
		Subscribe: union(g.Subscribe, more.Subscribe), Read: union(g.Read, more.Read),
		Command:    append(without(g.Command, more.Command, sameCommand), more.Command...),
		Call:       append(without(g.Call, more.Call, sameCall), more.Call...),
		Hold:       append(without(g.Hold, more.Hold, sameHold), more.Hold...),
		Administer: g.Administer || more.Administer,
	}
}

// Without returns the grants that less does not name. Commands, calls and capabilities are named without
// their constraints. An entry of less that is not granted gives fault.NotFound.
func (g Grants) Without(less Grants) (Grants, error) {
	have := g.words(false)
	for _, c := range less.words(false) {
		if !slices.Contains(have, c) {
			return g, fault.E("identity.Without", fault.NotFound, c, errors.New("is not granted; voltbus agent grants shows what is"))
		}
	}
	equal := func(a, b point.Pattern) bool { return a == b }
	return Grants{
		Publish: without(g.Publish, less.Publish, equal), Record: without(g.Record, less.Record, equal),
		Subscribe: without(g.Subscribe, less.Subscribe, equal), Read: without(g.Read, less.Read, equal),
		Command: without(g.Command, less.Command, sameCommand), Call: without(g.Call, less.Call, sameCall),
		Hold: without(g.Hold, less.Hold, sameHold), Administer: g.Administer && !less.Administer,
	}, nil
}

func sameCommand(a, b CommandGrant) bool { return a.Path == b.Path && a.Level == b.Level }
func sameCall(a, b CallGrant) bool       { return a.Agent == b.Agent && a.Method == b.Method }
func sameHold(a, b CapabilityGrant) bool { return a.Name == b.Name }

func union(a, b []point.Pattern) []point.Pattern {
	out := slices.Clone(a)
	for _, p := range b {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// without returns the elements of a that equal none of b.
func without[T any](a, b []T, same func(T, T) bool) []T {
	var out []T
	for _, x := range a {
		if !slices.ContainsFunc(b, func(y T) bool { return same(x, y) }) {
			out = append(out, x)
		}
	}
	return out
}
