package model

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/point"
)

// command is an accepted command.
type command struct {
	control.Command
	order    uint64
	since    time.Time
	ends     time.Duration // on the steady clock; 0: no lease
	revert   due
	output   *output
	timer    step.Timer
	fresh    bool // the device has not accepted it yet
	first    bool // its first write, which is sent at once, has no outcome yet
	replaced replaced
}

// due is when a command ends because its point is reverted.
type due struct {
	at time.Duration // on the steady clock; 0: never
	by string
}

// Due ends a command whose lease was not renewed, or whose point is reverted.
func (c *command) Due() {
	m := c.output.m
	if c.revert.at > 0 && c.revert.at <= m.step.Now.Steady {
		m.endReverted(c)
		return
	}
	m.end(c, control.CauseExpired)
	c.output.follow(control.CauseExpired)
}

// stops returns the steady moment at which a command ends by itself; 0 if never.
func (c *command) stops() time.Duration {
	if c.ends == 0 || c.revert.at > 0 && c.revert.at < c.ends {
		return c.revert.at
	}
	return c.ends
}

func (c *command) holder() control.Holder {
	h := control.Holder{
		Requester: c.Requester, Task: c.Task, Command: c.ID, Path: c.Point, Level: c.Level,
		From: c.since, Reason: c.Reason, Fence: c.Fence,
	}
	if at := c.stops(); at > 0 {
		h.Until = c.output.m.step.Now.At(at)
	}
	return h
}

// commands holds the commands in force, of all points.
type commands struct {
	step        *step.Step
	byRef       map[control.Ref]*command
	byRequester map[string]map[*command]struct{}
	byTask      map[string]map[*command]struct{}
}

func newCommands(s *step.Step) *commands {
	return &commands{
		step: s, byRef: make(map[control.Ref]*command),
		byRequester: make(map[string]map[*command]struct{}), byTask: make(map[string]map[*command]struct{}),
	}
}

// add indexes a command.
func (all *commands) add(c *command) {
	all.byRef[c.Ref()] = c
	join(all.byRequester, c.Requester, c)
	if c.Task != "" {
		join(all.byTask, c.Task, c)
	}
	c.output.touch()
}

func join(sets map[string]map[*command]struct{}, name string, c *command) {
	set := sets[name]
	if set == nil {
		set = make(map[*command]struct{}, 1)
		sets[name] = set
	}
	set[c] = struct{}{}
}

func leave(sets map[string]map[*command]struct{}, name string, c *command) {
	if set := sets[name]; set != nil {
		if delete(set, c); len(set) == 0 {
			delete(sets, name)
		}
	}
}

// remove removes a command from the array of its point.
func (all *commands) remove(c *command, cause control.Cause) {
	all.step.Steady.Stop(&c.timer)
	c.output.array.remove(c)
	delete(all.byRef, c.Ref())
	leave(all.byRequester, c.Requester, c)
	leave(all.byTask, c.Task, c)
	c.output.touch()
	all.step.Event(control.Event{Kind: control.CommandEnded, Holder: c.holder(), Cause: cause, Value: c.Value})
}

// end removes a command from the array; the point reverts if it was the last. The point then follows the
// remaining commands.
func (all *commands) end(c *command, cause control.Cause) {
	o := c.output
	o.insist = o.insist || o.array.first() == c
	if all.remove(c, cause); o.array.len() == 0 {
		o.reverting, o.undo = true, false
	}
}

// endAll ends commands, and makes each of their points follow what remains, once.
func (all *commands) endAll(chosen []*command, cause control.Cause) {
	var touched []*output
	for _, c := range chosen {
		all.end(c, cause)
		if len(touched) == 0 || touched[len(touched)-1] != c.output {
			touched = append(touched, c.output)
		}
	}
	for _, o := range touched {
		o.follow(cause)
	}
}

// endReverted ends the commands of a point whose turn to revert has come, all before the point follows.
func (all *commands) endReverted(c *command) {
	all.step.CausedBy(c.revert.by)
	all.endAll(slices.DeleteFunc(c.output.array.all(), func(c *command) bool {
		return c.revert.at == 0 || c.revert.at > all.step.Now.Steady
	}), control.CauseReleased)
	all.step.CausedBy("")
}

// selected returns the selected commands of a requester in the order of creation.
func (all *commands) selected(requester string, s control.Selection) []*command {
	if s.Command != "" {
		if c := all.byRef[control.Ref{Requester: requester, ID: s.Command}]; c != nil && s.Has(&c.Command) {
			return []*command{c}
		}
		return nil
	}
	chosen := slices.DeleteFunc(slices.Collect(maps.Keys(all.byRequester[requester])), func(c *command) bool { return !s.Has(&c.Command) })
	sortCommands(chosen)
	return chosen
}

// endUnder ends the commands at or below a path that were made under a task, except at points that the task
// holds by another window.
func (all *commands) endUnder(task string, path point.Path, holds func(point.Path) bool) {
	chosen := slices.DeleteFunc(slices.Collect(maps.Keys(all.byTask[task])), func(c *command) bool {
		return !control.Covers(path, c.Point) || holds(c.Point)
	})
	sortCommands(chosen)
	all.endAll(chosen, control.CauseTask)
}

func sortCommands(list []*command) {
	slices.SortFunc(list, func(a, b *command) int { return cmp.Compare(a.order, b.order) })
}

// lease sets when a command ends by itself.
func (all *commands) lease(c *command, length time.Duration) {
	c.Lease, c.ends = length, all.step.Now.Steady+length
	all.arm(c)
	c.output.touch()
}

// arm sets the timer of a command to its end, if it has one.
func (all *commands) arm(c *command) {
	if at := c.stops(); at > 0 {
		all.step.Steady.Set(&c.timer, c, int64(at))
	}
}

// revertLater ends a command, and what it has replaced, at a given time; an earlier time stays.
func (all *commands) revertLater(c *command, d due) {
	for each := c; each != nil; each = each.replaced.prior {
		if each.revert.at == 0 || d.at < each.revert.at {
			each.revert = d
		}
	}
	all.arm(c)
	c.output.touch()
}

// Held returns the commands of a requester, oldest first; "" is everybody.
func (all *commands) Held(requester string) []control.Slot {
	var list []*command
	if requester != "" {
		list = all.selected(requester, control.Selection{})
	} else {
		list = slices.Collect(maps.Values(all.byRef))
		sortCommands(list)
	}
	slots := make([]control.Slot, len(list))
	for i, c := range list {
		slots[i] = control.Slot{Holder: c.holder(), Value: c.Value}
	}
	return slots
}

// Disown keeps anything of a requester from coming back that another requester's command replaced.
func (all *commands) Disown(requester string) {
	for _, c := range all.byRef {
		if p := c.replaced.prior; p != nil && p.Requester == requester && c.Requester != requester {
			c.replaced.prior = nil
			c.output.touch()
		}
	}
}
