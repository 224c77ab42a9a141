package bus

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"

	"voltbus/bus/permit"
	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

// requester sends messages and requests of the node to agents and children.
type requester struct {
	out, requests *nats.Conn
	connections   *connections
}

var errAbsent = errors.New("nobody answers to this name; the agent is not connected, or does not have the method")

// Notify sends an agent news of a kind, such as wire.NewsStanding. It waits for nobody; an agent that
// is not connected misses it, and asks for its standing when it returns.
func (r *requester) Notify(name, kind string, body []byte) error {
	subject := wire.NewsSubject(name, kind)
	if err := r.out.Publish(subject, body); err != nil {
		return fault.E("bus.Notify", fault.Unavailable, subject, trouble.Of(err))
	}
	return nil
}

// Announce sends a free message of the node on a topic. It waits for nobody.
func (r *requester) Announce(topic point.Path, body []byte) error {
	subject := wire.MessageSubject(wire.NodeName, topic)
	if err := r.out.Publish(subject, body); err != nil {
		return fault.E("bus.Announce", fault.Unavailable, subject, trouble.Of(err))
	}
	return nil
}

// Call asks an agent for something in the name of the node, and returns the body of its answer.
// An agent that is not there gives fault.Unreachable at once, one that does not answer before ctx
// ends fault.Timeout.
func (r *requester) Call(ctx context.Context, agent, method string, body []byte) ([]byte, error) {
	return r.ask(ctx, agent, request("", agent, method, body))
}

// request is a call by the node, on behalf of a caller at another node; "" for none.
func request(caller, agent, method string, body []byte) *nats.Msg {
	m := &nats.Msg{Subject: wire.CallSubject(agent, wire.NodeName, method), Data: body}
	if caller != "" {
		m.Header = nats.Header{wire.CallerHeader: {caller}}
	}
	return m
}

// ask sends a request to an agent or a child, and returns the body of the answer.
func (r *requester) ask(ctx context.Context, agent string, ask *nats.Msg) ([]byte, error) {
	const op = "bus.Call"
	m, err := r.requests.RequestMsgWithContext(ctx, ask)
	switch {
	case err == nil:
		return m.Data, nil
	case errors.Is(err, nats.ErrNoResponders):
		return nil, fault.E(op, fault.Unreachable, agent, errAbsent)
	case ctx.Err() != nil:
		return nil, fault.E(op, fault.KindOf(ctx.Err()), agent, ctx.Err())
	case errors.Is(err, nats.ErrMaxPayload):
		return nil, fault.E(op, fault.Invalid, agent, err)
	}
	return nil, fault.E(op, fault.Unavailable, agent, trouble.Of(err))
}

// Message is a free message of an agent.
type Message struct {
	From  string // the server made sure of it
	Topic point.Path
	Data  []byte
}

// Messages calls deliver with every message of an agent on the topics that the patterns select,
// until stop is called. A pattern is one that identity.Grants take for subscribe. deliver is called
// by one goroutine for each pattern, not after stop has returned, and must return soon.
func (r *requester) Messages(patterns []point.Pattern, deliver func(Message)) (stop func(), err error) {
	l := &listener{deliver: deliver}
	for _, pattern := range patterns {
		for _, subject := range permit.AppendBelow(nil, wire.MessagePrefix+"*.", pattern) {
			sub, err := r.requests.Subscribe(subject, l.receive)
			if err != nil {
				l.stop()
				return nil, fault.E("bus.Messages", fault.Unavailable, subject, trouble.Of(err))
			}
			l.subs = append(l.subs, sub)
		}
	}
	if err := r.requests.Flush(); err != nil {
		l.stop()
		return nil, fault.E("bus.Messages", fault.Unavailable, "", trouble.Of(err))
	}
	return l.stop, nil
}

// listener receives messages.
type listener struct {
	subs []*nats.Subscription

	mu      sync.Mutex
	deliver func(Message) // nil when stopped
}

func (l *listener) receive(m *nats.Msg) {
	from, topic, err := wire.ParseMessage(m.Subject)
	if err != nil {
		return // somebody else's subject is not ours to judge
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deliver != nil {
		l.deliver(Message{From: from, Topic: topic, Data: m.Data})
	}
}

func (l *listener) stop() {
	l.mu.Lock()
	l.deliver = nil
	l.mu.Unlock()
	for _, sub := range l.subs {
		_ = sub.Unsubscribe() // fails only when the connection is gone, and the subscription with it
	}
}
