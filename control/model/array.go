package model

import (
	"slices"

	"voltbus/control"
)

// array is the priority array of a point: its commands, most urgent first, at most one per level.
type array struct{ commands []*command }

func (a *array) len() int { return len(a.commands) }

// all returns the commands, even if commands are removed meanwhile.
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

// put adds a command, and reports whether it wins. Its level must be free.
func (a *array) put(c *command) bool {
	i, _ := slices.BinarySearchFunc(a.commands, c.Level, func(c *command, l control.Level) int { return int(c.Level) - int(l) })
	a.commands = slices.Insert(a.commands, i, c)
	return i == 0
}

// remove removes a command.
func (a *array) remove(c *command) {
	a.commands = slices.DeleteFunc(a.commands, func(other *command) bool { return other == c })
}

// tried records that a write or read of the point has an outcome, or is held back. From then on only the winning
// command may still have its first write pending, and after a failure not even that one.
func (a *array) tried(failed bool) {
	for i, c := range a.commands {
		c.first = c.first && i == 0 && !failed
	}
}

// firstWriteOf returns the command whose first write or read this is, nil if there is none.
func (a *array) firstWriteOf(sent *control.Write) *command {
	for _, c := range a.commands {
		if c.first && c.Requester == sent.Requester && c.ID == sent.Command {
			return c
		}
	}
	return nil
}

// drop keeps a command from coming back that was replaced while it was being written, and that the device declined.
func (a *array) drop(sent *control.Write) {
	for _, c := range a.commands {
		if p := c.replaced.prior; p != nil && p.fresh && p.Requester == sent.Requester && p.ID == sent.Command {
			c.replaced.prior = nil
		}
	}
}
