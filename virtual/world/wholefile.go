package world

import (
	"fmt"
	"strings"
	"time"
)

// nodeWhole is what a site says that is a whole node.
const nodeWhole = "whole"

// Order is a command that a person gives to a whole node.
type Order struct {
	At    time.Duration `yaml:"at"`                      // since the start of the world
	Point string        `yaml:"point" example:"zone/on"` // an input in commands of a model
	Value float64       `yaml:"value"`                   // in the unit of the input
	Level int           `yaml:"level"`                   // from 1, the most urgent, to 16; 0: 8
	Lease time.Duration `yaml:"lease" example:"30m"`     // how long it holds; 0: until the end
}

// whole checks what a site says about being a whole node.
func (c *checker) whole(key string, s *Site) {
	c.expect(s.Node == "" || s.Node == nodeWhole, key+".node", "%q: write whole, or leave it out for the node in memory of the SDK", s.Node)
	if s.Node != nodeWhole {
		c.expect(s.Parent == "", key+".parent", "only whole nodes have a parent; write \"node: whole\"")
		c.expect(len(s.Orders) == 0, key+".orders", "only whole nodes take orders; write \"node: whole\"")
		return
	}
	c.expect(len(s.Agents) == 0, key+".agents", "agents do not reach a whole node of a world; give them a site of their own, without \"node: whole\"")
	c.expect(s.Scan >= time.Second, key+".scan", "%s is too short for a whole node; write 1s or more", s.Scan)
	if s.Parent != "" {
		c.parent(key, s)
	}
	for i := range s.Orders {
		c.order(fmt.Sprintf("%s.orders[%d]", key, i), s, &s.Orders[i])
	}
}

// parent checks that parents are nodes, and in no circle.
func (c *checker) parent(key string, s *Site) {
	by := map[string]*Site{}
	for i := range c.file.Sites {
		by[c.file.Sites[i].Name] = &c.file.Sites[i]
	}
	above := s
	for range c.file.Sites {
		up := by[above.Parent]
		if up == nil || up.Node != nodeWhole || up.Copies > 0 {
			c.report(key+".parent", "%q is no whole node without copies; write the name of one", above.Parent)
			return
		}
		if up.Parent == "" {
			return
		}
		above = up
	}
	c.report(key+".parent", "%q is below this node itself; let one node have no parent", s.Parent)
}

func (c *checker) order(key string, s *Site, o *Order) {
	c.expect(o.At >= 0, key+".at", "%s is before the start; write 0s or more", o.At)
	c.expect(o.Level >= 0 && o.Level <= 16, key+".level", "%d: write a level from 1 to 16", o.Level)
	c.expect(o.Lease >= 0, key+".lease", "%s: write how long it holds, such as 30m", o.Lease)
	model, input, _ := strings.Cut(o.Point, "/")
	for i := range s.Models {
		for _, name := range s.Models[i].Commands {
			if s.Models[i].Name == model && name == input {
				return
			}
		}
	}
	c.report(key+".point", "%q is no point to command; write model/input, with the input in commands of the model", o.Point)
}
