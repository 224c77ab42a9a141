// Package control declares and carries out the operations of control: reading and commanding points, releasing and reserving them, and
// showing who commands what. Package control/access does the work.
package control

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/control/access"
	"voltbus/identity"
	"voltbus/operation"
)

// The arguments without a type in package answer.
type (
	// Nothing is the arguments of operations without any.
	Nothing struct{}
	// Page selects points.
	Page struct {
		Pattern string `json:"pattern" api:"max=1024"`
		Busy    bool   `json:"busy" doc:"Only those that are commanded, overridden or go back"`
		Limit   int    `json:"limit" api:"min=1,max=10000,default=1000"`
		After   string `json:"after" api:"max=1024" doc:"The next of the page before"`
	}
	// Path names a point, a device or a branch.
	Path struct {
		Path string `json:"path" api:"required,max=1024"`
	}
	// Requester names a requester of commands.
	Requester struct {
		Requester string `json:"requester" api:"max=1024" doc:"Such as person:ada or agent:tune; without it those of all"`
	}
	// Points names points.
	Points struct {
		Points []string `json:"points" api:"required,max=20000"`
	}
	// Task names a reservation.
	Task struct {
		Task string `json:"task" api:"required,max=1024"`
	}
	// Span selects reservations.
	Span struct {
		Path string         `json:"path" api:"max=1024" doc:"Only with windows above, at or below it"`
		From operation.Time `json:"from" api:"default=now"`
		To   operation.Time `json:"to"`
	}
	// Pattern names an override.
	Pattern struct {
		Pattern string `json:"pattern" api:"required,max=1024" doc:"Exactly as in the list"`
	}
	// Single is one command by itself.
	Single struct {
		answer.NewCommand

		Wait *float64 `json:"wait,omitempty" api:"max=60"`
	}
)

const (
	smallBody = 4 << 10
	largeBody = 4 << 20
	devices   = time.Minute // limit for commands that wait for a device's response
)

// declareDecision declares an operation that changes who holds what. Agents and other nodes may request it.
func declareDecision[In any](name, method, http, id string, s operation.Spec) operation.Operation[In, answer.Decided] {
	s.Name, s.Method, s.HTTP, s.ID, s.Role, s.Remote, s.Granted, s.Owner = name, method, http, id, identity.Operator, true, true, operation.Control
	return operation.Declare[In, answer.Decided](s)
}

// declareView declares an operation that only reads. Agents and other nodes may request it.
func declareView[In, Out any](name, method, http, id string, s operation.Spec) operation.Operation[In, Out] {
	s.Name, s.Method, s.HTTP, s.ID, s.Role, s.Remote, s.Granted, s.Owner = name, method, http, id, identity.Viewer, true, true, operation.Control
	return operation.Declare[In, Out](s)
}

// The read-only operations.
var (
	List = operation.Declare[Page, answer.ControlPoints](operation.Spec{
		Owner: operation.Control, Name: "control.points", ID: "listControlPoints", HTTP: "GET /control/points", Role: identity.Viewer,
		Summary: "Points as those see them who command them, with their priority arrays", Result: "By path",
	})
	Who = declareView[Path, answer.Who]("control.who", "who", "GET /control/who", "whoHolds", operation.Spec{
		Summary: "Who holds a point, a device or a branch, until when and why", Result: "Commands, reservations and overrides",
	})
	Held = declareView[Requester, answer.Slots]("control.held", "held", "GET /control/held", "listHeld", operation.Spec{
		People: true, Summary: "The commands that somebody holds", Result: "The oldest first",
	})
	Get = declareView[Points, answer.Readings]("control.get", "get", "POST /control/get", "readPoints", operation.Spec{
		Body: largeBody, Waits: true,
		Summary: "Read points from their devices now", Result: "Each answered by itself, in the order of the request",
	})
	Tasks = declareView[Span, answer.Tasks]("control.tasks", "schedule", "GET /control/tasks", "listTasks", operation.Spec{
		Summary: "The reservations that touch a path and a time", Result: "The oldest first",
	})
	Overrides = declareView[Nothing, answer.Holders]("control.overrides", "overrides", "GET /control/overrides", "listOverrides", operation.Spec{
		People: true, Summary: "Overrides", Result: "The oldest first",
	})
	Priorities = operation.Declare[Path, answer.Priorities](operation.Spec{
		Owner: operation.Control, Name: "control.priorities", ID: "listPriorities", HTTP: "GET /control/priorities", Role: identity.Viewer,
		Summary: "Read the priority array that the device of a point has of its own", Result: "The levels in use, those of other systems included, and the relinquish default",
		Doc: "The device is asked. 403 if it has no such array for the point.",
	})
	Waiting = operation.Declare[Nothing, answer.Slots](operation.Spec{
		Owner: operation.Control, Name: "control.waiting", ID: "listWaiting", HTTP: "GET /control/waiting", Role: identity.Viewer,
		Summary: "Commands that need approval", Result: "The oldest first",
	})
)

// The operations with effects.
var (
	Freeze = operation.Declare[answer.Freeze, answer.Readings](operation.Spec{
		Owner: operation.Control, Name: "device.freeze", ID: "freezeCounters", HTTP: "POST /control/freeze", Role: identity.Operator, Audited: true, Body: smallBody,
		Summary: "Have a device copy its counters into frozen counters", Result: "The points that it changed",
		Doc: "The device does it to all its counters at one moment (IEEE 1815, functions 7 and 9). The answer holds the points of the device " +
			"that this changed, which are recorded, too: frozen counters, and counters that were cleared. 403 if the device has no counters to " +
			"freeze, 409 while somebody else has reserved something of it.",
	})
	Command = operation.Declare[answer.NewCommands, answer.CommandResults](operation.Spec{
		Owner: operation.Control, Name: "control.command", Method: "set_many", ID: "command", HTTP: "POST /control/commands", Role: identity.Operator, Remote: true, Granted: true,
		Body: largeBody, Takes: "NewCommands", Keyed: true, Waits: true, Wait: operation.UsualWait + devices,
		Summary: "Set points", Result: "What became of each, in the order of the request",
		Doc: "Levels 8 to 16 need the role operator, 5 to 7 engineer, 1 to 4 administrator. Each command is decided and answered by itself: a " +
			"refusal of one is in its result, and the answer is still 200. A command holds its level until it is released or its lease ends. A " +
			"repeat with the same identifier gets the first answer and is not carried out again; without one the header Idempotency-Key names it, " +
			"else the node chooses one.",
	})
	Set = operation.Declare[Single, answer.Commanded](operation.Spec{
		Owner: operation.Control, Name: "control.set", Method: "set", Role: identity.Operator, Remote: true, Granted: true, Waits: true, Wait: operation.UsualWait + devices,
		Summary: "Set a point, and wait for what its device says; a repeat of the id gets the first answer",
	})
	Release = declareDecision[answer.CommandSelection]("control.release", "release", "POST /control/release", "releaseCommands", operation.Spec{
		Body: smallBody, Takes: "CommandSelection", Summary: "End commands, so that points follow the next level or go back", Result: "Released",
		Doc: "Name what is to end, or all for everything of the requester, reservations included. What somebody else holds needs the role engineer.",
	})
	Revert = declareDecision[answer.Revert]("control.revert", "revert", "POST /control/revert", "revertPoints", operation.Spec{
		Body: smallBody, Takes: "ControlRevert", Summary: "End every command of a point, device or branch, whoever made it, so that points go back",
		Result: "Points is how many go back, until the turn of the last one",
		Doc: "It needs the role engineer. With spread the points go back one after the other. A command that is made after the request stays. " +
			"Reservations and overrides stay.",
	})
	Renew = declareDecision[answer.CommandSelection]("control.renew", "renew", "POST /control/renew", "renewLeases", operation.Spec{
		Body: smallBody, Takes: "CommandSelection", Summary: "Give own leases a new length from now on", Result: "Until is the first end of them",
	})
	Reserve = declareDecision[answer.NewTask]("control.reserve", "reserve", "POST /control/tasks", "reserve", operation.Spec{
		Body: largeBody, Takes: "NewTask", Summary: "Reserve points, devices or branches for times, all or none", Result: "Reserved",
		Doc: "A conflict is answered with 409, and the windows that stand in the way in holders.",
	})
	Cancel = declareDecision[Task]("control.cancel", "cancel", "DELETE /control/tasks/{task}", "cancelTask", operation.Spec{
		Summary: "End a reservation and the commands made under it", Result: "Ended", Doc: "That of somebody else needs the role engineer.",
	})
	Override = declareDecision[answer.NewOverride]("control.override", "override", "POST /control/overrides", "makeOverride", operation.Spec{
		People: true, Body: smallBody, Takes: "NewOverride", Summary: "Override points, so that no command reaches them", Result: "Made",
	})
	ClearOverride = declareDecision[Pattern]("control.override.clear", "clear_override", "DELETE /control/overrides", "clearOverride", operation.Spec{
		People: true, Summary: "End an override", Result: "Ended",
	})
	Approve = operation.Declare[answer.Approval, answer.Decided](operation.Spec{
		Owner: operation.Control, Name: "control.approve", ID: "approveCommand", HTTP: "POST /control/waiting", Role: identity.Operator, Body: smallBody, Takes: "Approval",
		Summary: "Approve or refuse a command that waits", Result: "What was decided about the command",
		Doc: "It needs the role that the command itself needs.",
	})
)

// Part carries out the operations of control.
type Part struct {
	Access *access.Access // nil if there is none
	Now    func() time.Time
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{
		bind(p, List, list),
		bind(p, Who, who),
		bind(p, Held, held),
		bind(p, Get, get),
		bind(p, Tasks, p.tasks),
		bind(p, Overrides, overrides),
		bind(p, Waiting, waiting),
		operation.Bind(Freeze, nil, p.freeze),
		operation.Bind(Priorities, nil, p.priorities),
		operation.BindLeaving(Command, p.command, leave),
		operation.BindLeaving(Set, p.set, leaveOne),
		bind(p, Release, (*access.Access).Release),
		bind(p, Revert, (*access.Access).Revert),
		bind(p, Renew, (*access.Access).Renew),
		bind(p, Reserve, (*access.Access).Reserve),
		bind(p, Cancel, cancel),
		bind(p, Override, (*access.Access).Override),
		bind(p, ClearOverride, clearOverride),
		bind(p, Approve, (*access.Access).Approve),
	}
}

// bind binds an operation to its handler if the node has control.
func bind[In, Out any](
	p *Part, o operation.Operation[In, Out], do func(*access.Access, context.Context, *access.Who, *In) (Out, error),
) operation.Bound {
	return operation.Bind(o, nil, func(ctx context.Context, c *operation.Call, in *In) (out Out, err error) {
		if p.Access == nil {
			return out, operation.NotHere("control")
		}
		return do(p.Access, ctx, asker(&c.Caller), in)
	})
}

// asker returns the caller as control knows it. A remote caller may do what both it and the neighbour may.
func asker(c *operation.Caller) *access.Who {
	if !c.Remote && !c.IsAgent() {
		return access.Person(c.Name, c.Role)
	}
	by := access.RemoteCaller(c.Name, &c.Grants)
	switch {
	case !c.Remote:
	case c.IsAgent():
		by.Manages = by.Manages && c.Administers
	default:
		return access.Person(c.Name, c.Role).Within(by)
	}
	return by
}
