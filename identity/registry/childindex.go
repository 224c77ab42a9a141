package registry

import "strings"

// childIndex finds children by name and by key. Children guards it.
type childIndex struct {
	byName map[string]*Child // in lower case
	byKey  map[string]*Child // including previous keys
}

// enter adds a child to the index.
func (x *childIndex) enter(c *Child) {
	x.byName[strings.ToLower(c.Name)], x.byKey[c.Public] = c, c
	for _, key := range c.Previous {
		x.byKey[key] = c
	}
}

// leave is the inverse of enter.
func (x *childIndex) leave(c *Child) {
	delete(x.byName, strings.ToLower(c.Name))
	delete(x.byKey, c.Public)
	for _, key := range c.Previous {
		delete(x.byKey, key)
	}
}
