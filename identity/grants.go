package identity

import (
	"strings"

	"voltbus/point"
)

// Grants are what an agent may do. The zero Grants allow nothing. A pattern without "*" means the path and
// everything below it. Grants are values: their slices and maps must not be modified once they are shared.
type Grants struct {
	Publish   []point.Pattern   `json:"publish,omitempty" yaml:"publish,omitempty"`     // live scans, samples and messages
	Record    []point.Pattern   `json:"record,omitempty" yaml:"record,omitempty"`       // durable samples
	Subscribe []point.Pattern   `json:"subscribe,omitempty" yaml:"subscribe,omitempty"` // live scans, samples and messages
	Read      []point.Pattern   `json:"read,omitempty" yaml:"read,omitempty"`           // history, newest values, list of points
	Command   []CommandGrant    `json:"command,omitempty" yaml:"command,omitempty"`
	Call      []CallGrant       `json:"call,omitempty" yaml:"call,omitempty"`
	Hold      []CapabilityGrant `json:"hold,omitempty" yaml:"hold,omitempty"`
	// Administer allows everything, grants and documents of other agents included.
	Administer bool `json:"administer,omitempty" yaml:"administer,omitempty"`
}

// CommandGrant allows to command points.
type CommandGrant struct {
	Path  point.Pattern `json:"path" yaml:"path"`
	Level int           `json:"level" yaml:"level"`                 // the most urgent level that may be used, from 1, the most urgent, to 16
	Min   *float64      `json:"min,omitempty" yaml:"min,omitempty"` // bounds of the value, in the point's unit; nil: none
	Max   *float64      `json:"max,omitempty" yaml:"max,omitempty"`
}

// CallGrant allows to call methods of an agent.
type CallGrant struct {
	// Agent is an agent of this node, or node/agent for one of another node; * stands for any node or agent.
	Agent  string      `json:"agent" yaml:"agent"`
	Method string      `json:"method,omitempty" yaml:"method,omitempty"` // "" for all
	Where  Constraints `json:"where,omitempty" yaml:"where,omitempty"`
}

// Remote reports whether the grant concerns agents of other nodes, which this node's bus does not know.
func (c *CallGrant) Remote() bool { return strings.Contains(c.Agent, "/") }

// names reports whether the grant covers an agent, or node/agent.
func (c *CallGrant) names(agent string) bool {
	if c.Agent == agent {
		return true
	}
	node, name, remote := strings.Cut(c.Agent, "/")
	atNode, atName, far := strings.Cut(agent, "/")
	return remote && far && (node == "*" || strings.EqualFold(node, atNode)) && (name == "*" || name == atName)
}

// CapabilityGrant is a named capability, which methods of agents can require.
type CapabilityGrant struct {
	Name  string      `json:"name" yaml:"name"`
	Where Constraints `json:"where,omitempty" yaml:"where,omitempty"`
}

// MayPublish reports whether live samples of the path, or messages on that topic, may be sent. Like the
// following methods it returns nil, or a fault.Refused error that wraps a *Missing.
func (g *Grants) MayPublish(path point.Path) error {
	return g.path("identity.MayPublish", "publish", g.Publish, path)
}

// MayRecord reports whether samples of the point may be recorded.
func (g *Grants) MayRecord(path point.Path) error {
	return g.path("identity.MayRecord", "record", g.Record, path)
}

// MaySubscribe reports whether live samples of the path, or messages on that topic, may be received.
func (g *Grants) MaySubscribe(path point.Path) error {
	return g.path("identity.MaySubscribe", "subscribe", g.Subscribe, path)
}

// MayRead reports whether the point's history, newest value and description may be read.
func (g *Grants) MayRead(path point.Path) error {
	return g.path("identity.MayRead", "read", g.Read, path)
}

func (g *Grants) path(op, verb string, patterns []point.Pattern, path point.Path) error {
	if g.Administer {
		return nil
	}
	for _, p := range patterns {
		if p.Match(path) {
			return nil
		}
	}
	return missing(op, verb+" "+string(path))
}

// MayCommand reports whether the point may be commanded to the value at a priority level, 1 being the most
// urgent.
func (g *Grants) MayCommand(path point.Path, level int, value point.Value) error {
	const op = "identity.MayCommand"
	if g.Administer {
		return nil
	}
	var why error = missing(op, commandText(path, level))
	for i := range g.Command {
		c := &g.Command[i]
		if !c.Path.Match(path) || level < c.Level {
			continue
		}
		err := between(c.Min, c.Max, value)
		if err == nil {
			return nil
		}
		why = refusedValue(op, commandText(path, level), err)
	}
	return why
}

// MayReserve reports whether the point, device or branch may be reserved: that is, whether all of it may be
// commanded at some level.
func (g *Grants) MayReserve(path point.Path) error {
	if g.Administer {
		return nil
	}
	for i := range g.Command {
		if g.Command[i].Path.Match(path) {
			return nil
		}
	}
	return missing("identity.MayReserve", commandText(path, maxLevel))
}

// overrideLevel is the command level required to set overrides: that of an operator.
const overrideLevel = 8

// MayOverride reports whether all points of a pattern may be taken out of control: whether one grant to
// command them at level 8 or a more urgent one covers the whole pattern.
func (g *Grants) MayOverride(pattern point.Pattern) error {
	if g.Administer {
		return nil
	}
	for i := range g.Command {
		if c := &g.Command[i]; c.Level <= overrideLevel && coversAll(c.Path, pattern) {
			return nil
		}
	}
	return missing("identity.MayOverride", commandText(point.Path(pattern), overrideLevel))
}

// coversAll reports whether a pattern selects everything that another one selects. For patterns with * before
// their end it knows this only of identical ones.
func coversAll(granted, asked point.Pattern) bool {
	if granted == asked || granted == "**" {
		return true
	}
	branch := strings.TrimSuffix(string(granted), "/**")
	return !strings.Contains(branch, "*") && (string(asked) == branch || strings.HasPrefix(string(asked), branch+"/"))
}

// MayCall reports whether a method of an agent may be called with the arguments by name. With nil arguments
// it ignores the conditions: it then reports whether the method may be called at all.
func (g *Grants) MayCall(agent, method string, args map[string]any) error {
	const op = "identity.MayCall"
	if g.Administer {
		return nil
	}
	capability := "call " + agent + ":" + method
	var why error = missing(op, capability)
	for i := range g.Call {
		c := &g.Call[i]
		if !c.names(agent) || (c.Method != "" && c.Method != method) {
			continue
		}
		err := c.Where.check(args)
		if err == nil {
			return nil
		}
		why = refusedValue(op, capability, err)
	}
	return why
}

// Holds reports whether a named capability is held for the arguments; nil arguments as in MayCall.
func (g *Grants) Holds(name string, args map[string]any) error {
	const op = "identity.Holds"
	if g.Administer {
		return nil
	}
	var why error = missing(op, "hold "+name)
	for i := range g.Hold {
		h := &g.Hold[i]
		if h.Name != name {
			continue
		}
		err := h.Where.check(args)
		if err == nil {
			return nil
		}
		why = refusedValue(op, "hold "+name, err)
	}
	return why
}
