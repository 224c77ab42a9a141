package broker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"voltbus/broker/tenant"
	"voltbus/broker/unknown"
	"voltbus/fault"
	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/mqtt/topic"
)

// Hook publishes messages of devices that use no MQTT, with the rights, limits and templates of those that do. It is safe for
// concurrent use.
type Hook struct{ b *Broker }

// NewHook returns who publishes for devices by a broker.
func NewHook(b *Broker) Hook { return Hook{b} }

// Post is a message of a device that shows its secret.
type Post struct {
	Device, Secret string
	Peer           netip.Addr
	Topic          string
	Payload        []byte
}

var (
	errTopic   = errors.New("is not a topic that the kind of the device may publish to")
	errPayload = errors.New("is larger than payload of its kind allows")
	errTaker   = errors.New("asks for a command that the application may not give now; the answer says why")
	errTaken   = errors.New("no template takes its messages; they went to subscribers and are not recorded")
)

// ErrLogin is why a device is not let in, and ErrRate why it has to wait.
var (
	ErrLogin = errors.New("shows neither the name of a device nor its secret")
	ErrRate  = errors.New("sends more than rate or bytes of its kind allow, or failed to log in too often; try again later")
)

// Publish publishes a message and returns when its values are on disk. Errors: ErrLogin, ErrRate; Refused for a topic that
// the device may not use, Invalid for a topic or a payload that is none, NotFound when no template takes the message,
// Unavailable when it cannot be recorded.
func (h Hook) Publish(ctx context.Context, p *Post) error {
	done, err := h.begin(p)
	if err != nil || done == nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fault.E("broker.Publish", fault.Timeout, p.Topic, ctx.Err())
	}
}

// login returns the tenant of a device that shows the right secret. The lock is held.
func (h Hook) login(p *Post) (*tenant.Tenant[*link], error) {
	b := h.b
	refuse := func(kind error, err error) error {
		b.counts.Refused++
		b.handler.tell(Refusal{Device: p.Device, Client: "http", Address: p.Peer.String(), Action: "connect", Why: err.Error()})
		return fault.E("broker.Publish", fault.Refused, p.Device, kind)
	}
	if !b.guesses.Admits(p.Device, p.Peer) {
		return nil, refuse(ErrRate, errGuess)
	}
	kind, err := b.cfg.Devices.Login(p.Device, p.Secret)
	if err != nil {
		b.guesses.Failed(p.Device, p.Peer)
		return nil, refuse(ErrLogin, err)
	}
	k, known := b.kinds[kind]
	if !known {
		return nil, refuse(ErrLogin, fmt.Errorf("is of the kind %q, which is not in mqtt.kinds", kind))
	}
	t := b.tenants.Of(p.Device)
	t.Be(k)
	return t, nil
}

// begin has a message recorded, and returns what is told of it.
func (h Hook) begin(p *Post) (done chan error, err error) {
	b := h.b
	b.mu.Lock()
	defer b.unlock()
	t, err := h.login(p)
	if err != nil {
		return nil, err
	}
	defer b.tenants.Release(t)
	if err := h.judge(p, t); err != nil {
		return nil, err
	}
	now := b.cfg.Now()
	b.counts.Received++
	m := &session.Message{Topic: strings.Clone(p.Topic), Payload: p.Payload, QoS: 1}
	if code, taken := b.handler.take(t.Name, m, false); taken && code.Failed() {
		return nil, fault.E("broker.Publish", fault.Refused, p.Topic, errTaker)
	} else if taken {
		return nil, nil
	}
	bound := b.bind(m.Topic)
	if bound == nil {
		b.counts.Unknown++
		b.unknown.Note(unknown.Topic{Name: m.Topic, Device: t.Name, Payload: unknown.Clip(m.Payload), Count: 1, At: now})
		b.router.route(m, t.Name)
		return nil, fault.E("broker.Publish", fault.NotFound, p.Topic, errTaken)
	}
	done = make(chan error, 1)
	b.work.add(pending{message: m, binding: bound, at: now, tenant: t.Name, done: done})
	return done, nil
}

// judge says whether a device may publish a message.
func (h Hook) judge(p *Post, t *tenant.Tenant[*link]) error {
	b, now := h.b, h.b.cfg.Now()
	switch {
	case topic.Check(p.Topic, b.config.Limits.Levels) != nil:
		return fault.E("broker.Publish", fault.Invalid, p.Topic, topic.Check(p.Topic, b.config.Limits.Levels))
	case t.Pause(now) > 0:
		return fault.E("broker.Publish", fault.Unavailable, p.Device, ErrRate)
	case !t.MayPublish(p.Topic):
		b.counts.Unauthorized++
		b.handler.tell(Refusal{Device: t.Name, Client: "http", Address: p.Peer.String(), Action: "publish", Topic: p.Topic, Why: "may not publish to this topic"})
		return fault.E("broker.Publish", fault.Refused, p.Topic, errTopic)
	case t.Kind.Payload > 0 && len(p.Payload) > t.Kind.Payload:
		return fault.E("broker.Publish", fault.Invalid, p.Topic, errPayload)
	case b.work.full():
		return fault.E("broker.Publish", fault.Unavailable, p.Topic, errors.New("too many messages wait to be recorded; try again later"))
	}
	t.Posted(now)
	t.Use(now, len(p.Payload))
	return nil
}

// posted answers a message of a device that uses no MQTT. The lock is held.
func (h Hook) posted(p *pending, err error) {
	b := h.b
	if err == nil {
		b.counts.Recorded++
		b.router.route(p.message, p.tenant)
	} else {
		b.counts.NotRecorded++
	}
	p.done <- err
}
