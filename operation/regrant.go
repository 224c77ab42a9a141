package operation

import "voltbus/identity"

// Regranting are arguments that withdraw some rights and grant others, so that two simultaneous changes do not undo each
// other.
type Regranting struct {
	Grant    identity.Grants `json:"grant" api:"schema=Grants"`
	Withdraw identity.Grants `json:"withdraw" api:"schema=Grants"`
}

// Change applies the arguments to grants.
func (r *Regranting) Change(g *identity.Grants) error {
	left, err := g.Without(r.Withdraw)
	*g = left.With(r.Grant)
	return err
}

// Regranted returns a change of rights whose audit entry has the state before and after.
func (c *Call) Regranted(name string, change func(*identity.Grants) error) func(*identity.Grants) error {
	c.Did(name, nil)
	return func(g *identity.Grants) error {
		before := *g
		err := change(g)
		c.Did(name, struct {
			Before []string `json:"before"`
			After  []string `json:"after"`
		}{before.Capabilities(), g.Capabilities()})
		return err
	}
}
