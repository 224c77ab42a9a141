// Package access gives programs and people access to control, over HTTP and the bus alike: it parses requests, checks permissions, passes
// them to package dispatch, and returns outcomes in the types of package answer.
package access

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/point"
)

// Dispatcher decides and carries out, as package dispatch does.
type Dispatcher interface {
	CommandMany(ctx context.Context, commands []control.Command, wait time.Duration) ([]dispatch.Result, error)
	Read(ctx context.Context, paths []point.Path) []device.Reading
	Release(ctx context.Context, requester string, s control.Selection, by string) (control.Decision, error)
	Revert(ctx context.Context, r control.Reversion) (control.Decision, error)
	Renew(ctx context.Context, requester string, s control.Selection, length time.Duration) (control.Decision, error)
	Leave(ctx context.Context, requester string, cause control.Cause, by string) error
	Reserve(ctx context.Context, r control.Reservation) (control.Decision, error)
	Cancel(ctx context.Context, requester, task, by string) (control.Decision, error)
	Override(ctx context.Context, o control.Override) (control.Decision, error)
	ClearOverride(ctx context.Context, pattern point.Pattern, by string) (control.Decision, error)
	Approve(ctx context.Context, a control.Approval) (control.Decision, error)
	View(ctx context.Context, path point.Path) (control.View, error)
	Covers(ctx context.Context, pattern point.Pattern) error
	Views(ctx context.Context, f dispatch.Filter) (views []control.View, more bool, err error)
	Held(ctx context.Context, requester string) ([]control.Slot, error)
	Waiting(ctx context.Context) ([]control.Slot, error)
	Tasks(ctx context.Context) ([]control.Task, error)
	Overridden(ctx context.Context) ([]control.Holder, error)
	Watch(buffer int) *dispatch.Watcher
}

// Who is a caller and its rights.
type Who struct {
	Name  string        // of the requester: agent:<name>, person:<name>; at another node agent:<node>/<name>
	Level control.Level // the default level of its commands
	// Manages allows it to end what others hold.
	Manages bool
	// Neighbour says that it is the forwarding neighbour that lacks the right.
	Neighbour bool
	// Command, Reserve, Override and See return nil, or a fault.Refused error that names the missing right.
	Command  func(path point.Path, level int, value point.Value) error
	Reserve  func(path point.Path) error
	Override func(pattern point.Pattern) error
	See      func(path point.Path) error
}

// Refusal is a request that did not reach the dispatcher, because the caller lacks the right.
type Refusal struct {
	Who, Action, Subject string
	Err                  error
}

// Config is what access needs. Dispatcher is required.
type Config struct {
	Dispatcher Dispatcher
	// Refused is called with refused commands; may be nil. It must return at once.
	Refused func(Refusal)
	// Priorities returns what all systems command a point to in its device, as Fleet.Priorities of package device does.
	Priorities func(ctx context.Context, path point.Path) (device.PriorityArray, error)
	// Freeze freezes the counters of a device, as Fleet.Freeze of package device does.
	Freeze func(ctx context.Context, path point.Path, clears bool) ([]point.Sample, error)
	// Below lists the paths under which the points of descendants lie; nil: there are none.
	Below func() []Branch
	Now   func() time.Time // nil for time.Now
}

// Access is the access to control. It is safe for concurrent use.
type Access struct{ cfg Config }

// New returns the access to a dispatcher. It starts nothing.
func New(cfg Config) *Access {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Access{cfg: cfg}
}

// The default levels.
const (
	AgentLevel  control.Level = 16
	PersonLevel control.Level = 8
)

// Agent returns a caller on the bus.
func Agent(a *registry.Agent) *Who { return RemoteCaller("agent:"+a.Name, &a.Grants) }

// RemoteCaller returns a remote caller, under the name recorded for it and with the rights of the neighbour
// that forwards its requests.
func RemoteCaller(name string, g *identity.Grants) *Who {
	grants := *g
	return &Who{
		Name: name, Level: AgentLevel, Manages: grants.Administer,
		Command: grants.MayCommand, Reserve: grants.MayReserve, Override: grants.MayOverride,
		See: func(path point.Path) error {
			if grants.MayReserve(path) == nil {
				return nil
			}
			return grants.MayRead(path)
		},
	}
}

// Within returns the caller restricted by a neighbour's rights: what both may do.
func (w *Who) Within(neighbour *Who) *Who {
	out := *w
	out.Manages, out.Neighbour = w.Manages && neighbour.Manages, w.Manages && !neighbour.Manages
	out.Command = func(path point.Path, level int, value point.Value) error {
		if err := w.Command(path, level, value); err != nil {
			return err
		}
		return neighbour.Command(path, level, value)
	}
	out.Reserve, out.Override, out.See = both(w.Reserve, neighbour.Reserve), both(w.Override, neighbour.Override), both(w.See, neighbour.See)
	return &out
}

func both[T any](first, second func(T) error) func(T) error {
	return func(of T) error {
		if err := first(of); err != nil {
			return err
		}
		return second(of)
	}
}

// The most urgent levels of people, by role.
const (
	operatorLevel = 8
	engineerLevel = 5
)

var errLevel = errors.New("needs the role engineer for levels 5 to 7, and administrator for 1 to 4; take a level from 8 to 16, or ask somebody who may")

// RoleOf returns the role of the people who may themselves do what an agent may: administrator for one that
// administers, or commands at levels closed to engineers, otherwise engineer. People who may not do it must
// not decide what the agent does.
func RoleOf(g *identity.Grants) identity.Role {
	if g.Administer || slices.ContainsFunc(g.Command, func(c identity.CommandGrant) bool { return c.Level < engineerLevel }) {
		return identity.Administrator
	}
	return identity.Engineer
}

// Person returns a caller over HTTP, under its name in the audit log. The role determines the usable levels:
// operators 8 to 16, engineers 5 to 16, administrators all; others may not command.
func Person(name string, role identity.Role) *Who {
	reserve := func(path point.Path) error {
		if role.Includes(identity.Operator) {
			return nil
		}
		return fault.E("access.Person", fault.Refused, string(path), errors.New("needs the role operator"))
	}
	return &Who{
		Name: name, Level: PersonLevel, Manages: role.Includes(identity.Engineer), Reserve: reserve,
		Override: func(pattern point.Pattern) error { return reserve(point.Path(pattern)) },
		See:      func(point.Path) error { return nil },
		Command: func(path point.Path, level int, _ point.Value) error {
			switch {
			case level >= operatorLevel, role.Includes(identity.Administrator), level >= engineerLevel && role.Includes(identity.Engineer):
				return reserve(path)
			}
			return fault.E("access.Person", fault.Refused, string(path), errLevel)
		},
	}
}

// refuse reports a refusal, and returns it.
func (a *Access) refuse(who *Who, action, subject string, err error) error {
	if err != nil && a.cfg.Refused != nil {
		a.cfg.Refused(Refusal{Who: who.Name, Action: action, Subject: subject, Err: err})
	}
	return err
}

var errSeconds = errors.New("is a number of seconds from 0 to 3153600000, which is a hundred years")

// seconds parses a duration.
func seconds(name string, n float64) (time.Duration, error) {
	if !(n >= 0 && n <= 3153600000) {
		return 0, fault.E("access", fault.Invalid, name, errSeconds)
	}
	return time.Duration(math.Round(n * float64(time.Second))), nil
}

const maxID = 255

var errID = fmt.Errorf("has more than %d bytes; shorten it", maxID)

// identifier bounds the identifier of a request, which the model remembers.
func identifier(id string) error {
	if len(id) > maxID {
		return fault.E("access", fault.Invalid, "id", errID)
	}
	return nil
}

// clock parses a time.
func clock(name, text string, otherwise time.Time) (time.Time, error) {
	if text == "" && !otherwise.IsZero() {
		return otherwise, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.E("access", fault.Invalid, name, fmt.Errorf("%.40q is no time; write one such as 2026-01-31T12:00:00Z", text))
	}
	return t, nil
}

// level parses a level; 0 if there is none.
func level(n int, otherwise control.Level) control.Level {
	switch {
	case n == 0:
		return otherwise
	case n < 1 || n > control.Levels:
		return control.Levels + 1 // which the model refuses, naming the bounds
	}
	return control.Level(n)
}
