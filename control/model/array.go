package model

import (
	"slices"

	"voltbus/control"
)

// array is the priority array of a point: its commands, the most urgent first, one a level at most.
type array struct{ commands []*command }

func (a *array) len() int { return len(a.commands) }

// all returns the commands, also while they are taken out.
func (a *array) all() []*command { return slices.Clone(a.commands) }

// at returns the command of a level, or nil.
func (a *array) at(l control.Level) *command {
	for _, c := range a.commands {
		if c.Level == l {
			return c
		}
	}
	return nil
}

// first returns the command that wins, or nil.
func (a *array) first() *command {
	if len(a.commands) == 0 {
		return nil
	}
	return a.commands[0]
}

// put takes a command in, and reports whether it wins. Its level must be free.
func (a *array) put(c *command) bool {
	i, _ := slices.BinarySearchFunc(a.commands, c.Level, func(c *command, l control.Level) int { return int(c.Level) - int(l) })
	a.commands = slices.Insert(a.commands, i, c)
	return i == 0
}

// remove takes a command out.
func (a *array) remove(c *command) {
	a.commands = slices.DeleteFunc(a.commands, func(other *command) bool { return other == c })
}

// tried notes that a write or read of the point has an outcome, or is held back. From then on only the command that
// wins may still have its first write to come, and it has not after a failure.
func (a *array) tried(failed bool) {
	for i, c := range a.commands {
		c.first = c.first && i == 0 && !failed
	}
}

// firstWriteOf returns the command of which this is the first write or read, nil if there is none.
func (a *array) firstWriteOf(sent *control.Write) *command {
	for _, c := range a.commands {
		if c.first && c.Requester == sent.Requester && c.ID == sent.Command {
			return c
		}
	}
	return nil
}

// drop has a command not come back that was replaced while it was written, and to which the device said no.
func (a *array) drop(sent *control.Write) {
	for _, c := range a.commands {
		if p := c.replaced.prior; p != nil && p.fresh && p.Requester == sent.Requester && p.ID == sent.Command {
			c.replaced.prior = nil
		}
	}
}
