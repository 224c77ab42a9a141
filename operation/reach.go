package operation

import (
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// limits returns the grants that bound what the caller may read; nil for a person of this node, who may read everything.
func (c *Caller) limits() *identity.Grants {
	if c.IsAgent() || c.Remote {
		return &c.Grants
	}
	return nil
}

// MayRead returns an error if the caller may not read a point.
func (c *Caller) MayRead(p point.Path) error {
	if g := c.limits(); g != nil {
		return g.MayRead(p)
	}
	return nil
}

// Reads returns what the caller may read of a pattern: a pattern that selects no more, and the permitted points; nil for all of
// them. A caller who may read none of it is refused.
func (c *Caller) Reads(pattern point.Pattern) (narrow point.Pattern, keep func(point.Path) bool, err error) {
	g := c.limits()
	if g == nil || g.Administer {
		return pattern, nil, nil
	}
	everything := pattern == "" || pattern == "**"
	switch {
	case len(g.Read) == 0 && everything:
		pattern = "**"
		fallthrough
	case len(g.Read) == 0:
		return "", nil, fault.E("operation.Reads", fault.Refused, string(pattern), &identity.Missing{Capability: "read " + string(pattern)})
	case len(g.Read) == 1 && everything:
		pattern = g.Read[0] // so that the rest need not be checked
	}
	return pattern, func(p point.Path) bool { return g.MayRead(p) == nil }, nil
}
