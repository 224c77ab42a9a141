// Package amqp1 takes messages of an address of AMQP 1.0. They are accepted when the readings are on disk.
package amqp1

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	amqp "github.com/Azure/go-amqp"

	"voltbus/fault"
	"voltbus/sink/endpoint/amqpclient"
	"voltbus/source"
	"voltbus/source/setting"
)

// Open makes the reader of an entry, see source.Kind.
func Open(s *setting.Source, node string) (source.Reader, error) {
	d, err := amqpclient.New(s.Access(), node)
	return &reader{entry: s, dialer: d}, err
}

type reader struct {
	entry  *setting.Source
	dialer *amqpclient.Dialer

	conn     *amqp.Conn
	receiver *amqp.Receiver
	credit   int // messages that the broker may still send
	taken    []*amqp.Message
	list     []source.Message
}

const (
	quiet    = 5 * time.Second      // without a message: nothing is wrong
	linger   = 5 * time.Millisecond // for more messages behind the first one
	dialTime = 10 * time.Second
)

// Read implements source.Reader.
func (r *reader) Read(ctx context.Context) ([]source.Message, error) {
	err := r.connect(ctx)
	if err == nil {
		err = r.take(ctx)
	}
	if err != nil {
		return nil, r.failed(err)
	}
	r.list = r.list[:0]
	for _, m := range r.taken {
		r.list = append(r.list, message(m, r.entry.From))
	}
	return r.list, nil
}

func (r *reader) failed(err error) error {
	return fault.E("sources.Read", fault.Unavailable, r.entry.URL, r.dialer.Plain("from", r.entry.From, err))
}

// connect connects unless connected.
func (r *reader) connect(ctx context.Context) (err error) {
	if r.receiver != nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, dialTime)
	defer stop()
	if r.conn, err = r.dialer.Dial(ctx); err != nil {
		return err
	}
	session, err := r.conn.NewSession(ctx, nil)
	if err != nil {
		return err
	}
	r.receiver, err = session.NewReceiver(ctx, r.entry.From, &amqp.ReceiverOptions{Credit: -1}) // which is given batch by batch
	return err
}

// take takes the next messages. The broker sends no more than one batch before they are settled.
func (r *reader) take(ctx context.Context) error {
	r.taken = r.taken[:0]
	if r.credit == 0 { // not before: RabbitMQ 3.10 stopped sending when credit came while messages were on their way
		if err := r.receiver.IssueCredit(uint32(r.entry.Batch)); err != nil { //nolint:gosec // bounded by the configuration
			return err
		}
		r.credit = r.entry.Batch
	}
	defer func() { r.credit -= len(r.taken) }()
	wait, begun := quiet, time.Time{}
	for len(r.taken) < r.credit {
		if m := r.receiver.Prefetched(); m != nil {
			r.taken = append(r.taken, m)
			continue
		}
		if len(r.taken) > 0 && begun.IsZero() {
			begun, wait = time.Now(), linger
		} else if len(r.taken) > 0 {
			wait = linger - time.Since(begun)
		}
		one, stop := context.WithTimeout(ctx, wait)
		m, err := r.receiver.Receive(one, nil)
		stop()
		switch {
		case err == nil:
			r.taken = append(r.taken, m)
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return nil
		default:
			return err
		}
	}
	return nil
}

// message returns a message of AMQP as one of a source.
func message(m *amqp.Message, address string) source.Message {
	out := source.Message{Topic: address, Place: "address " + address, Payload: payload(m)}
	id := ""
	if p := m.Properties; p != nil {
		if p.To != nil && *p.To != "" {
			out.Topic = *p.To
		}
		if p.Subject != nil && *p.Subject != "" {
			out.Topic = *p.Subject
		}
		if p.MessageID != nil {
			id = fmt.Sprint(p.MessageID)
		}
	}
	if key, is := m.Annotations["x-routing-key"].(string); is && key != "" {
		out.Topic = key
	}
	if out.Topic != address {
		out.Place += ", subject " + out.Topic
	}
	if id != "" {
		out.Place += ", message " + id
	}
	if p := m.Properties; p != nil && p.CreationTime != nil && p.CreationTime.UnixMilli() > 0 {
		out.Time = source.Identity(id, out.Topic, out.Payload).Within(*p.CreationTime, time.Millisecond)
	}
	out.Topic = strings.ReplaceAll(strings.Trim(out.Topic, "/"), ".", "/")
	return out
}

// payload returns the body of a message: its data, or a value that is text or binary.
func payload(m *amqp.Message) []byte {
	switch v := m.Value.(type) {
	case string:
		return []byte(v)
	case []byte:
		return v
	}
	if len(m.Data) == 1 {
		return m.Data[0]
	}
	return append([]byte{}, bytes.Join(m.Data, nil)...)
}

// Divert implements source.Reader. It has a connection of its own: some brokers end the one of the messages when the address is missing.
func (r *reader) Divert(ctx context.Context, list []source.Unread) error {
	if err := r.divert(ctx, list); err != nil {
		return fault.E("sources.Divert", fault.Unavailable, r.entry.DeadLetters, r.dialer.Plain("dead_letters", r.entry.DeadLetters, err))
	}
	return nil
}

func (r *reader) divert(ctx context.Context, list []source.Unread) error {
	conn, err := r.dialer.Dial(ctx)
	if err != nil {
		return err
	}
	defer amqpclient.Close(conn)
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		return err
	}
	mode := amqp.SenderSettleModeUnsettled
	sender, err := session.NewSender(ctx, r.entry.DeadLetters, &amqp.SenderOptions{SettlementMode: &mode, TargetDurability: amqp.DurabilityUnsettledState})
	if err != nil {
		return err
	}
	for _, one := range list {
		receipt, err := sender.SendWithReceipt(ctx, letter(r.taken[one.Message], r.entry.From, one.Reason), nil)
		if err != nil {
			return err
		}
		outcome, err := receipt.Wait(ctx)
		if err != nil {
			return err
		}
		if verdict, reason := amqpclient.Judge(outcome); verdict != amqpclient.Accepted {
			return errors.New(reason)
		}
	}
	return nil
}

// letter returns a copy of a message with the reason.
func letter(m *amqp.Message, address, reason string) *amqp.Message {
	properties := map[string]any{}
	maps.Copy(properties, m.ApplicationProperties)
	properties["voltbus-reason"], properties["voltbus-address"] = reason, address
	return &amqp.Message{
		Header: &amqp.MessageHeader{Durable: true, Priority: priority}, Properties: m.Properties, ApplicationProperties: properties, Data: m.Data, Value: m.Value, Sequence: m.Sequence,
	}
}

const priority = 4 // the one of messages that name none

// Answer implements source.Reader.
func (r *reader) Answer(ctx context.Context) error {
	for _, m := range r.taken {
		if err := r.receiver.AcceptMessage(ctx, m); err != nil {
			return r.failed(err)
		}
	}
	return nil
}

// Close implements source.Reader.
func (r *reader) Close() error {
	amqpclient.Close(r.conn)
	r.conn, r.receiver, r.credit, r.taken = nil, nil, 0, nil
	return nil
}
