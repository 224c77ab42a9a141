package peer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/semaphore"

	"voltbus/bus"
	"voltbus/bus/dispatch"
	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/wire"
)

// What a connection to a parent may hold.
const (
	parentAnswers = 16 << 20  // bytes of answers that wait to be taken
	callBytes     = 256 << 20 // of calls that wait
	parentCalls   = 64        // calls of the parent's side that run at once
)

// Parent is a child's connection to its parent's bus. When it is lost it does not come back: whoever
// has it dials anew, and knows that nothing is under way. Its methods are safe for concurrent use.
type Parent struct {
	*Joiner
	inbox string // of answers to blocks
	way   Way    // by which it was made
	key   bus.Signer

	ctx     context.Context //nolint:containedctx // of calls that run; ends with the connection
	end     context.CancelFunc
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
	places  chan struct{} // holds one for each call that runs
	weight  *semaphore.Weighted
}

// DialParent connects as Join does. name is the child's caller name, such as "@plant-1".
func DialParent(ctx context.Context, to Way, key bus.Signer, name string) (*Parent, error) {
	j, err := join(ctx, to, key, name)
	if err != nil {
		return nil, err
	}
	run, end := context.WithCancel(context.WithoutCancel(ctx)) // it lives until Close
	return &Parent{
		Joiner: j, way: to, key: key, ctx: run, end: end, places: make(chan struct{}, parentCalls), weight: semaphore.NewWeighted(callsWeight),
		inbox: wire.InboxPrefix + wire.Token(name) + "." + rand.Text() + ".up",
	}, nil
}

// Send hands a frame over, behind those of the lane that were handed over before. The data may be
// changed afterwards. It fails with fault.Unreachable when the connection is lost; nil does not mean
// that the frame arrived.
func (p *Parent) Send(lane string, data []byte) error {
	if err := p.conn.PublishRequest(wire.UpSubject(p.name, lane), p.inbox, data); err != nil {
		return fault.E("bus.Send", fault.Unreachable, p.name, fmt.Errorf("the connection to the parent was lost: %w", trouble.Of(err)))
	}
	return nil
}

// Answers calls deliver with each answer to a frame, in order, from one goroutine that it may hold up.
func (p *Parent) Answers(deliver func(data []byte)) error {
	return p.listen(p.inbox, parentAnswers, func(m *nats.Msg) { deliver(m.Data) })
}

// DialFlow makes another connection the same way, as the function of that name does.
func (p *Parent) DialFlow(ctx context.Context, deliver func([]byte)) (*Flow, error) {
	way := p.way
	way.TLS = way.TLS.Clone()
	return DialFlow(ctx, way, p.key, p.name, deliver)
}

// Serve answers what the parent's side asks of this node. handler runs in several goroutines; its
// context ends with the connection. Pings are answered here, however many calls run.
func (p *Parent) Serve(handler func(context.Context, dispatch.Request)) error {
	err := p.listen(wire.PingSubject(p.name), callBytes, func(m *nats.Msg) {
		_ = m.Respond(nil) // who asked may be gone
	})
	if err != nil {
		return err
	}
	return p.listen(wire.CallPrefix+wire.Token(p.name)+".*.*", callBytes, func(m *nats.Msg) {
		call, err := wire.ParseCall(m.Subject)
		if err != nil || (m.Reply != "" && !wire.IsInbox(m.Reply, call.Caller)) {
			return
		}
		r := dispatch.Request{Subject: m.Subject, From: call.Caller, Method: call.Method, Data: m.Data, Header: m.Header, Respond: m.Respond}
		if m.Reply == "" {
			r.Respond = func([]byte) error { return nil }
		}
		if err := wire.Readable(call.Method, m.Data); err != nil {
			_ = r.Respond(dispatch.Failure(err, ""))
			return
		}
		p.start(r, handler)
	})
}

// callsWeight is what the calls that run may take to be read, as wire.Weight has it; more wait.
const callsWeight = 192 << 20

// start runs a call when there is a place for it, and memory to read it; until then the ones behind it wait.
func (p *Parent) start(r dispatch.Request, handler func(context.Context, dispatch.Request)) {
	weight := min(int64(wire.Weight(r.Data)), callsWeight)
	if p.weight.Acquire(p.ctx, weight) != nil {
		return
	}
	select {
	case p.places <- struct{}{}:
	case <-p.ctx.Done():
		return // nothing runs any more
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.running.Go(func() {
		defer func() { <-p.places; p.weight.Release(weight) }()
		handler(p.ctx, r)
	})
}

func (p *Parent) listen(subject string, pending int, deliver nats.MsgHandler) error {
	sub, err := p.conn.Subscribe(subject, deliver)
	if err == nil {
		err = sub.SetPendingLimits(-1, pending)
	}
	if err == nil {
		err = p.conn.Flush()
	}
	if err != nil {
		return fault.E("bus.DialParent", fault.Unreachable, p.name, fmt.Errorf("the connection to the parent was lost: %w", trouble.Of(err)))
	}
	return nil
}

var errParentLost = errors.New("the connection to the parent was lost; it is made anew")

// Err returns why the connection ended.
func (p *Parent) Err() error {
	err := p.conn.LastError()
	switch {
	case err == nil:
		err = errParentLost
	case errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAuthorization):
		return fault.E("bus.Parent", fault.Refused, p.name, errStranger)
	default:
		err = fmt.Errorf("%w: %w", errParentLost, err)
	}
	return fault.E("bus.Parent", fault.Unreachable, p.name, trouble.Of(err))
}

// Close ends the connection, and waits for calls that run.
func (p *Parent) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end()
	p.Joiner.Close()
	p.running.Wait()
}
