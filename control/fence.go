package control

import (
	"errors"
	"fmt"
	"strconv"

	"voltbus/fault"
)

// Fence says for which group of controllers a command is given, and in which of the group's terms. Where a group changes its leader,
// the one before may not know it yet: a point that a newer leader has commanded must not follow it. The zero Fence is that of a command
// without a group.
type Fence struct {
	Group  string `json:"group"`
	Term   uint64 `json:"term"`             // from 1; each leader has a higher one than those before
	Leader string `json:"leader,omitempty"` // of the term; "" if each term has one leader by itself
}

// MaxTerm bounds terms to those that every reader of JSON takes exactly.
const MaxTerm = 1<<53 - 1

// MaxFences bounds the groups of which a node keeps the newest term.
const MaxFences = 100

// Before reports whether a leader of the same group with the other fence is newer, or has the term already.
func (f Fence) Before(other Fence) bool {
	return f.Term < other.Term || f.Term == other.Term && f.Leader != other.Leader
}

// Succeeds reports whether a command is that of a newer leader of the group than the one that stands at its level.
func (c *Command) Succeeds(old *Command) bool {
	return c.Fence.Group != "" && c.Fence.Group == old.Fence.Group && old.Fence.Before(c.Fence)
}

// Replaces returns why the command takes the place of the one that stands at its level.
func (c *Command) Replaces(old *Command) Cause {
	switch {
	case old.Requester == c.Requester:
		return CauseReplaced
	case c.Succeeds(old):
		return CauseFenced
	}
	return CauseReserved
}

// Validate returns what is wrong with the fence, and what to write instead.
func (f Fence) Validate(limits *Limits) error {
	if f == (Fence{}) {
		return nil
	}
	if f.Term < 1 || f.Term > MaxTerm {
		return fmt.Errorf("the fence has the term %d; write a whole number from 1 to %d", f.Term, uint64(MaxTerm))
	}
	if len(f.Leader) > limits.Text {
		return fmt.Errorf("the leader of the fence has %d bytes; write at most %d", len(f.Leader), limits.Text)
	}
	return limits.Named("group of the fence", f.Group)
}

// errFenced tells an older leader what stands in its way.
func (f Fence) errFenced(newest Fence) error {
	name := newest.Leader
	if name == "" {
		name = "a leader"
	}
	if f.Term < newest.Term {
		return fmt.Errorf("a newer leader of %q, %s in term %d, commands here, and this is term %d; step down, or be elected in a later term",
			f.Group, name, newest.Term, f.Term)
	}
	return fmt.Errorf("term %d of %q belongs to %s; begin a later term", f.Term, f.Group, name)
}

// Newest is the newest fence of each group that commanded anything, and who used it. It is used by one goroutine at a time.
type Newest map[string]Fenced

// Fenced is a fence and the requester of the first command with it.
type Fenced struct {
	Term      uint64 `json:"term"`
	Leader    string `json:"leader,omitempty"`
	Requester string `json:"requester,omitempty"`
}

var errFences = errors.New("the node keeps the terms of " + strconv.Itoa(MaxFences) + " groups already; take one of them")

// Admit refuses a command of a leader that has a newer one, with the newest fence as Holders, and one of a group too many.
func (n Newest) Admit(c *Command) (Decision, bool) {
	const op = "Command"
	f := c.Fence
	known, is := n[f.Group]
	newest := Fence{f.Group, known.Term, known.Leader}
	switch {
	case f.Group == "":
	case !is && len(n) >= MaxFences:
		return Refuse(op, WhyFull, fault.Unavailable, string(c.Point), errFences), false
	case is && f.Before(newest):
		d := Refuse(op, WhyFenced, fault.Conflict, string(c.Point), f.errFenced(newest))
		d.Holders = []Holder{{Requester: known.Requester, Fence: newest}}
		return d, false
	}
	return Decision{}, true
}

// Raise keeps the fence of a command that was accepted.
func (n Newest) Raise(c *Command) {
	f := c.Fence
	if known, is := n[f.Group]; f.Group != "" && (!is || known.Term < f.Term) {
		n[f.Group] = Fenced{f.Term, f.Leader, c.Requester}
	}
}
