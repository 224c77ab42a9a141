// Package rabbitmq takes messages of a queue of RabbitMQ and other brokers of AMQP 0-9-1. They are acknowledged when the readings are on disk.
package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"voltbus/fault"
	"voltbus/sink/endpoint/rabbitclient"
	"voltbus/source"
	"voltbus/source/setting"
)

// Open makes the reader of an entry, see source.Kind.
func Open(s *setting.Source, node string) (source.Reader, error) {
	d, err := rabbitclient.New(s.Access(), node)
	if err != nil {
		return nil, err
	}
	return &reader{entry: s, dialer: d}, nil
}

type reader struct {
	entry  *setting.Source
	dialer *rabbitclient.Dialer

	conn       *amqp.Connection
	channel    *amqp.Channel
	deliveries <-chan amqp.Delivery
	taken      []amqp.Delivery
	list       []source.Message
}

const (
	quiet  = 5 * time.Second      // without a message: nothing is wrong
	linger = 5 * time.Millisecond // for more messages behind the first one
)

// Read implements source.Reader.
func (r *reader) Read(ctx context.Context) ([]source.Message, error) {
	err := r.connect()
	if err == nil {
		err = r.take(ctx)
	}
	if err != nil {
		return nil, r.failed(err)
	}
	r.list = r.list[:0]
	for i := range r.taken {
		r.list = append(r.list, message(&r.taken[i], r.entry.From))
	}
	return r.list, nil
}

func (r *reader) failed(err error) error {
	return fault.E("sources.Read", fault.Unavailable, r.entry.URL, r.dialer.Plain(err))
}

// connect connects unless connected. The broker sends no more messages than one batch before they are acknowledged.
func (r *reader) connect() (err error) {
	if r.conn != nil {
		return nil
	}
	if r.conn, err = r.dialer.Dial(); err != nil {
		return err
	}
	if r.channel, err = r.conn.Channel(); err != nil {
		return err
	}
	if err = r.channel.Qos(r.entry.Batch, 0, false); err != nil {
		return err
	}
	r.deliveries, err = r.channel.Consume(r.entry.From, "", false, false, false, false, nil)
	return err
}

var errEnded = errors.New("it ended the connection, or the queue was removed")

// take takes the next messages.
func (r *reader) take(ctx context.Context) error {
	r.taken = r.taken[:0]
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for len(r.taken) < r.entry.Batch {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case d, open := <-r.deliveries:
			if !open {
				return errEnded
			}
			if len(r.taken) == 0 {
				timer.Reset(linger)
			}
			r.taken = append(r.taken, d)
		}
	}
	return nil
}

// message returns a delivery as a message.
func message(d *amqp.Delivery, queue string) source.Message {
	m := source.Message{Topic: strings.ReplaceAll(d.RoutingKey, ".", "/"), Payload: d.Body, Place: fmt.Sprintf("queue %s, routing key %s", queue, d.RoutingKey)}
	if d.Exchange != "" {
		m.Place += ", exchange " + d.Exchange
	}
	if d.MessageId != "" {
		m.Place += ", message " + d.MessageId
	}
	if m.Payload == nil {
		m.Payload = []byte{}
	}
	identity := source.Identity(d.MessageId, d.RoutingKey, d.Body)
	switch ms, is := d.Headers["timestamp_in_ms"].(int64); { // what RabbitMQ writes when it is told to
	case is && ms > 0:
		m.Time = identity.Within(time.UnixMilli(ms), time.Millisecond)
	case d.Timestamp.Unix() > 0:
		m.Time = identity.Within(d.Timestamp, time.Second)
	}
	return m
}

// Divert implements source.Reader. It has a channel of its own: that of the messages would be closed if the exchange were missing.
func (r *reader) Divert(ctx context.Context, list []source.Unread) error {
	if err := r.divert(ctx, list); err != nil {
		return fault.E("sources.Divert", fault.Unavailable, r.entry.DeadLetters, r.dialer.Plain(err))
	}
	return nil
}

func (r *reader) divert(ctx context.Context, list []source.Unread) error {
	channel, err := r.conn.Channel()
	if err != nil {
		return err
	}
	defer channel.Close()
	returned := channel.NotifyReturn(make(chan amqp.Return, len(list)))
	if err := channel.Confirm(false); err != nil {
		return err
	}
	closed := channel.NotifyClose(make(chan *amqp.Error, 1))
	for _, one := range list {
		d := &r.taken[one.Message]
		confirmed, err := channel.PublishWithDeferredConfirmWithContext(ctx, r.entry.DeadLetters, d.RoutingKey, true, false, letter(d, r.entry.From, one.Reason))
		if err != nil {
			return why(closed, err)
		}
		switch done, err := confirmed.WaitContext(ctx); {
		case err != nil:
			return why(closed, err)
		case !done:
			return why(closed, errors.New("it refused a message: a queue is full, or a node of the broker failed"))
		}
	}
	select {
	case back := <-returned:
		return fmt.Errorf("a message came back, since no queue is bound to the exchange %q for the routing key %q: %s", r.entry.DeadLetters, back.RoutingKey, back.ReplyText)
	default:
		return nil
	}
}

// why returns why the channel was closed, or else the error.
func why(closed <-chan *amqp.Error, err error) error {
	select {
	case reason := <-closed:
		if reason != nil {
			return reason
		}
	default:
	}
	return err
}

// letter returns a copy of a message with the reason.
func letter(d *amqp.Delivery, queue, reason string) amqp.Publishing {
	headers := amqp.Table{}
	maps.Copy(headers, d.Headers)
	headers["voltbus-reason"], headers["voltbus-queue"] = reason, queue
	return amqp.Publishing{
		Headers: headers, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, DeliveryMode: amqp.Persistent, CorrelationId: d.CorrelationId,
		MessageId: d.MessageId, Timestamp: d.Timestamp, Type: d.Type, AppId: d.AppId, Body: d.Body,
	}
}

// Answer implements source.Reader.
func (r *reader) Answer(context.Context) error {
	if err := r.channel.Ack(r.taken[len(r.taken)-1].DeliveryTag, true); err != nil {
		return r.failed(err)
	}
	return nil
}

// Close implements source.Reader.
func (r *reader) Close() error {
	rabbitclient.Close(r.conn)
	r.conn, r.channel, r.deliveries, r.taken = nil, nil, nil, nil
	return nil
}
