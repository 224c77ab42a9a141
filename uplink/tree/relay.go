package tree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/uplink/replica"
	"voltbus/wire"
)

// Times of requests.
const (
	MaxTime   = 5 * time.Minute  // maximum for an answer
	UsualTime = 30 * time.Second // default for an answer
	leastTime = 50 * time.Millisecond
)

// part is the share of the remaining time for the next node: it gives up before its caller does, and so can
// report why.
const part = 0.95

var (
	errUnknown = errors.New("no node of this name is known; voltbus nodes shows those that are")
	errOwn     = errors.New("is this node; ask it without naming a node")
	errTime    = fmt.Errorf("may take more than 0 and at most %g s", MaxTime.Seconds())
)

// Ask sends a request to another node. Other nodes know an agent or a person as belonging to this node, with
// the rights that it has here. The context limits the answer, or UsualTime. A failure elsewhere is an error
// of its kind around a *wire.Failure, which names the node. fault.Unreachable comes at once, and names the
// missing node.
func (t *Tree) Ask(ctx context.Context, c Caller, r Request) (json.RawMessage, error) {
	const op = "tree.Ask"
	ctx, cancel := bounded(ctx)
	defer cancel()
	r.Caller, r.For, r.Path, r.Timeout, r.own = c.Name, "", nil, left(ctx).Seconds(), true
	r.carry(c)
	if r.Timeout <= 0 {
		return nil, fault.E(op, fault.Invalid, "timeout", errTime)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if t.cfg.Lineage.Self(r.Node) {
		return nil, fault.E(op, fault.Invalid, r.Node, errOwn)
	}
	if c.Grants != nil {
		if err := r.May(c.Grants); err != nil {
			t.cfg.Tell(Event{Request: &r, Passed: true, Err: err})
			return nil, err
		}
	}
	result, err := t.pass(ctx, Hop{}, &r)
	t.note(Event{Request: &r, Passed: true, Err: err})
	return result, err
}

// bounded returns a context with a deadline within the maximum.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := UsualTime
	if _, has := ctx.Deadline(); has {
		limit = MaxTime
	}
	return context.WithTimeout(ctx, limit)
}

func left(ctx context.Context) time.Duration {
	end, _ := ctx.Deadline()
	return time.Until(end)
}

// note reports requests that change something to the audit log.
func (t *Tree) note(e Event) {
	reads := e.Request.Agent == wire.NodeName && t.cfg.Reads != nil && t.cfg.Reads(e.Request.Method)
	if !reads || fault.Is(e.Err, fault.Refused) {
		t.cfg.Tell(e)
	}
}

// Relay answers a request that a neighbour made or forwarded: it returns the body of the answer.
func (t *Tree) Relay(ctx context.Context, from Hop, body []byte) []byte {
	result, err := t.relay(ctx, from, body)
	if err != nil {
		return Failed(t.nameFor(from), err)
	}
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	return wire.AppendResult(nil, result)
}

func (t *Tree) relay(ctx context.Context, from Hop, body []byte) (json.RawMessage, error) {
	const op = "tree.Relay"
	r := &Request{}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fault.E(op, fault.Invalid, "request", fmt.Errorf("%w: %w", errRequest, err))
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if slices.Contains(r.Path, t.cfg.Name) {
		return nil, fault.E(op, fault.Rejected, r.Node, errLoop)
	}
	grants, err := t.cfg.Grants(from)
	if err != nil {
		return nil, err
	}
	who, err := t.vouch(from, r)
	if err != nil {
		t.cfg.Tell(Event{From: from.Name, Request: r, Passed: !t.cfg.Lineage.Self(r.Node), Err: err, Claimed: r.For})
		return nil, err
	}
	r.For = who.String()
	r.lower(&grants)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.Timeout*float64(time.Second)))
	defer cancel()
	if t.cfg.Lineage.Self(r.Node) {
		v := &RemoteCaller{Hop: from, For: who, Role: r.role(), Own: r.Grants, Grants: grants}
		result, err := t.here(ctx, v, r)
		t.note(Event{From: from.Name, Request: r, Err: err})
		return result, err
	}
	if err := r.May(&grants); err != nil {
		t.cfg.Tell(Event{From: from.Name, Request: r, Passed: true, Err: err})
		return nil, err
	}
	result, err := t.pass(ctx, from, r)
	t.note(Event{From: from.Name, Request: r, Passed: true, Err: err})
	return result, err
}

// here answers a request to this node or its agents, if the neighbour has the right.
func (t *Tree) here(ctx context.Context, v *RemoteCaller, r *Request) (json.RawMessage, error) {
	if r.Agent != wire.NodeName {
		args, err := r.named()
		if err != nil {
			return nil, err
		}
		if err := v.Grants.MayCall(r.Agent, r.Method, args); err != nil {
			return nil, err
		}
	}
	return t.cfg.Here(ctx, v, r)
}

// pass forwards the request to the next node on the way.
func (t *Tree) pass(ctx context.Context, from Hop, r *Request) (json.RawMessage, error) {
	const op = "tree.Relay"
	next := *r
	next.Path = append(slices.Clone(r.Path), t.cfg.Name)
	wait := left(ctx)
	if len(next.Path) > MaxHops {
		return nil, fault.E(op, fault.Rejected, r.Node, errHops)
	}
	if wait < leastTime {
		return nil, fault.E(op, fault.Timeout, r.Node, context.DeadlineExceeded)
	}
	next.Timeout = wait.Seconds() * part
	node, missing, below := t.cfg.Below.Find(r.Node)
	if below && (from.Above || !strings.EqualFold(from.Name, node.Path[0])) {
		return t.passDown(ctx, t.nameFor(from), &next, way{node, missing})
	}
	above, is := t.cfg.Parent()
	if !is || from.Above {
		return nil, fault.E(op, fault.NotFound, r.Node, errUnknown)
	}
	if !above.Online {
		return nil, cut(t.nameFor(from), r.Node, above.Name, above.Since, nil)
	}
	body, err := t.signed(&next, above.As)
	if err != nil {
		return nil, err
	}
	answer, err := t.cfg.Up(ctx, RelayMethod, body)
	if fault.Is(err, fault.Unreachable) && !isFailure(err) {
		return nil, cut(t.nameFor(from), r.Node, above.Name, time.Time{}, err)
	}
	return answer, err
}

func isFailure(err error) bool {
	_, is := errors.AsType[*wire.Failure](err)
	return is
}

// way is the route to a descendant.
type way struct{ node, missing replica.Node }

// passDown forwards the request to the child on the way to a node. self is this node's name at the caller.
func (t *Tree) passDown(ctx context.Context, self string, r *Request, to way) (json.RawMessage, error) {
	hop := to.node.Path[0]
	body, err := t.signed(r, t.cfg.Name)
	if err != nil {
		return nil, err
	}
	answer, err := t.cfg.Down(ctx, hop, RelayMethod, body)
	if fault.Is(err, fault.Unreachable) {
		since := time.Time{}
		if to.missing.Name == hop {
			since = to.missing.Away
		}
		return nil, cut(self, r.Node, hop, since, err)
	}
	if err != nil {
		return nil, err
	}
	return Parse(r.Call(), answer)
}

// nameFor returns this node's name at a neighbour, and so at callers that come through it.
func (t *Tree) nameFor(from Hop) string {
	if above, is := t.cfg.Parent(); is && from.Above && above.As != "" {
		return above.As
	}
	return t.cfg.Name
}

// cut is the error of this node, under its name at the caller, about a disconnected neighbour.
func cut(self, node, hop string, since time.Time, err error) error {
	text := hop + " is not connected to " + self
	if lost := (*LostError)(nil); errors.As(err, &lost) {
		text = "the connection of " + self + " to " + hop + " was lost before the answer came: whether it was done is unknown"
	} else if !since.IsZero() {
		text += " since " + since.UTC().Format(time.RFC3339)
	}
	if !strings.EqualFold(hop, node) {
		text += "; " + node + " lies behind it"
	}
	return fault.E("tree.Relay", fault.Unreachable, node, errors.New(text))
}

// LostError is the cause of an Unreachable error of Config.Up and Config.Down if the connection ended after
// the request was sent and before the answer.
type LostError struct{}

// Error implements error.
func (*LostError) Error() string { return "the connection was lost before the answer came" }
