package bacnet

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
	"voltbus/protocol/bacnet/service"
)

// stations are those of a writer.
type stations struct {
	from     []netip.Prefix
	networks []uint16
}

// has reports whether a station is one of them. Of a station behind a router the network counts too: the address is the router's.
func (s *stations) has(a ip.Address) bool {
	return contain(s.from, a) && (a.Remote.IsLocal() || slices.Contains(s.networks, a.Remote.Net))
}

// contain reports whether the IP address of a station, or of the router before it, is in one of some ranges.
func contain(from []netip.Prefix, a ip.Address) bool {
	return slices.ContainsFunc(from, func(p netip.Prefix) bool { return p.Contains(a.Link.Addr().Unmap()) })
}

// writer is who may command, and for whom.
type writer struct {
	stations

	urgent uint8 // the most urgent priority
	lease  time.Duration
	person Commander
}

// commands carries out what clients write.
type commands struct {
	writers []writer
	views   *views

	accepted, refused atomic.Uint64
}

var errPeople = errors.New("the number of persons is not that of the writers")

func newCommands(m *Mapping, people []Commander, v *views) (*commands, error) {
	if len(people) != len(m.Writers) {
		return nil, errPeople
	}
	c := &commands{views: v}
	for i := range m.Writers {
		w := writer{urgent: uint8(m.Writers[i].MinPriority), lease: m.Writers[i].Lease, person: people[i]}
		for _, text := range m.Writers[i].From {
			prefix, err := parseFrom(text)
			if err != nil {
				return nil, fmt.Errorf("address %q: %w", text, err)
			}
			w.from = append(w.from, prefix)
		}
		for _, n := range m.Writers[i].Networks {
			w.networks = append(w.networks, uint16(n))
		}
		c.writers = append(c.writers, w)
	}
	return c, nil
}

// The errors that clients are told (clause 18).
func denied() error {
	return service.Error{Class: enum.ClassProperty, Code: enum.CodeWriteAccessDenied}
}

func outOfRange() error {
	return service.Error{Class: enum.ClassProperty, Code: enum.CodeValueOutOfRange}
}
func busy() error { return service.Error{Class: enum.ClassDevice, Code: enum.CodeDeviceBusy} }

// carryOut has control decide about what a client wrote, and returns after the node has answered. The error is what the client is told.
func (c *commands) carryOut(ctx context.Context, o *object, command server.Command) error {
	err := c.decide(ctx, o, command)
	if err != nil {
		c.refused.Add(1)
		return err
	}
	c.accepted.Add(1)
	c.views.refresh(ctx, o) // so that the client reads what it wrote
	return nil
}

func (c *commands) decide(ctx context.Context, o *object, command server.Command) error {
	i := slices.IndexFunc(c.writers, func(w writer) bool { return w.has(command.From) })
	if i < 0 || !o.writes || command.Priority < c.writers[i].urgent {
		return denied()
	}
	w := &c.writers[i]
	if command.Value.Kind() == encoding.KindNull {
		return c.relinquish(ctx, w, o, command.Priority)
	}
	value := o.toPoint(command.Value)
	if value == nil {
		return outOfRange()
	}
	made, err := w.person.Command(ctx, answer.NewCommand{
		Point: string(o.path), Value: value, Level: int(command.Priority), Lease: w.lease.Seconds(),
		Reason: fmt.Sprintf("BACnet write from %v at priority %d", command.From, command.Priority),
	})
	if err != nil {
		return inWords(err)
	}
	if err := w.outcome(ctx, &made); err != nil {
		return err
	}
	if v, ok := o.fromJSON(made.Reported); ok && made.Wins {
		s := o.point.State()
		s.Value = v
		o.point.Update(s)
	}
	return nil
}

// relinquish ends the command at a priority. One of somebody else is ended if the person may do that, as control decides.
func (c *commands) relinquish(ctx context.Context, w *writer, o *object, priority uint8) error {
	s := answer.CommandSelection{Point: string(o.path), Level: int(priority)}
	if err := w.person.Release(ctx, s); err != nil && !fault.Is(err, fault.NotFound) {
		return inWords(err)
	}
	c.views.refresh(ctx, o)
	if s.Requester = c.views.holder(o, priority); s.Requester == "" {
		return nil
	}
	if err := w.person.Release(ctx, s); err != nil {
		return inWords(err)
	}
	return nil
}

// outcome returns what the client is told of the answer to a command; nil if it holds.
func (w *writer) outcome(ctx context.Context, made *answer.Commanded) error {
	switch made.Status {
	case "accepted":
		return nil
	case "pending": // a client could not see that somebody must agree first: it must not be carried out later
		_ = w.person.Release(ctx, answer.CommandSelection{Point: made.Point, ID: made.ID})
		return denied()
	}
	if made.Error == nil {
		return service.Error{Class: enum.ClassDevice, Code: enum.CodeOperationalProblem}
	}
	switch made.Error.Why {
	case "range", "invalid":
		return outOfRange()
	case "unknown":
		return service.Error{Class: enum.ClassObject, Code: enum.CodeUnknownObject}
	case "held", "reserved", "overridden", "interlock", "full":
		return busy()
	case "":
		kind, _ := fault.ParseKind(made.Error.Kind)
		return ofKind(kind)
	default: // read-only, priority, lease, unreserved, declined, disapproved and what is like it
		return denied()
	}
}

// inWords returns the standard's error for one of a request to the node.
func inWords(err error) error { return ofKind(fault.KindOf(err)) }

func ofKind(kind fault.Kind) error {
	switch kind {
	case fault.Invalid:
		return outOfRange()
	case fault.Refused, fault.Rejected:
		return denied()
	case fault.NotFound:
		return service.Error{Class: enum.ClassObject, Code: enum.CodeUnknownObject}
	case fault.Timeout, fault.Canceled:
		return service.Error{Class: enum.ClassDevice, Code: enum.CodeTimeout}
	case fault.Conflict, fault.Unavailable:
		return busy()
	default:
		return service.Error{Class: enum.ClassDevice, Code: enum.CodeOperationalProblem}
	}
}
