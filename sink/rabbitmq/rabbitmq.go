// Package rabbitmq sends readings to RabbitMQ and other brokers of AMQP 0-9-1: a persistent message for each reading, an object in JSON. A message
// counts as sent when the broker confirmed it.
package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"voltbus/fault"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint/rabbitclient"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations. The address is amqp://host:port/virtual-host, or amqps://. Readings go to the queue that is
// named as into, which is made if it is missing; with ?exchange=name to that exchange, with the point's name as the routing key.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 2000, Parallel: 1} } //nolint:mnd // confirmed together

type writer struct {
	entry    *setting.Sink
	dialer   *rabbitclient.Dialer
	exchange string

	mu       sync.Mutex
	conn     *amqp.Connection
	channel  *amqp.Channel
	returned chan amqp.Return
}

func open(s *setting.Sink, e destination.Environment) (destination.Writer, error) {
	d, err := rabbitclient.New(s.Access(), e.Node)
	if err != nil {
		return nil, err
	}
	return &writer{entry: s, dialer: d, exchange: d.Query.Get("exchange")}, nil
}

// connect connects unless connected.
func (w *writer) connect(ctx context.Context) (err error) {
	if w.channel != nil && !w.channel.IsClosed() {
		return nil
	}
	w.close()
	if w.conn, err = w.dialer.Dial(); err != nil {
		return err
	}
	if w.channel, err = w.conn.Channel(); err != nil {
		return err
	}
	if w.exchange == "" {
		if err := w.queue(ctx); err != nil {
			return err
		}
	}
	w.returned = w.channel.NotifyReturn(make(chan amqp.Return, 1))
	return w.channel.Confirm(false)
}

// settled is how long nothing is sent to a queue that was just made. RabbitMQ 3 answers before what decided that the queue is made is on disk,
// which it writes within 2 s: killed before, it forgets the queue and all messages in it that it confirmed.
const settled = 4 * time.Second

// queue makes the queue if it is missing. One that is there may have any properties.
func (w *writer) queue(ctx context.Context) error {
	_, err := w.channel.QueueDeclarePassive(w.entry.Into, true, false, false, false, nil)
	var refused *amqp.Error
	if !errors.As(err, &refused) || refused.Code != amqp.NotFound {
		return err
	}
	if w.channel, err = w.conn.Channel(); err != nil { // the answer closed the one before
		return err
	}
	if _, err := w.channel.QueueDeclare(w.entry.Into, true, false, false, false, nil); err != nil {
		return err
	}
	select {
	case <-time.After(settled):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.connect(ctx)
	if err == nil {
		err = w.publish(ctx, rows)
	}
	if err != nil {
		w.close()
		return nil, fault.E("sinks.Append", fault.Unavailable, w.entry.URL, w.dialer.Plain(err))
	}
	return nil, nil
}

func (w *writer) publish(ctx context.Context, rows []destination.Row) error {
	stop, unroutable := make(chan struct{}), make(chan string, 1)
	go w.watch(stop, unroutable)
	err := w.confirmed(ctx, rows)
	close(stop)
	if text := <-unroutable; err == nil && text != "" {
		return errors.New(text)
	}
	return err
}

// confirmed publishes rows, and returns when all are confirmed.
func (w *writer) confirmed(ctx context.Context, rows []destination.Row) error {
	list := make([]*amqp.DeferredConfirmation, len(rows))
	for i := range rows {
		key := w.entry.Into
		if w.exchange != "" {
			key = strings.ReplaceAll(rows[i].Name, "/", ".")
		}
		var err error
		list[i], err = w.channel.PublishWithDeferredConfirmWithContext(ctx, w.exchange, key, w.exchange == "", false, amqp.Publishing{
			ContentType: "application/json", DeliveryMode: amqp.Persistent, MessageId: string(rows[i].Point) + "@" + strconv.FormatInt(rows[i].Time, 10),
			Timestamp: time.UnixMicro(rows[i].Time), Type: "reading", AppId: "voltbus", Body: destination.AppendDocument(nil, "time", &rows[i]),
		})
		if err != nil {
			return err
		}
	}
	for _, one := range list {
		acknowledged, err := one.WaitContext(ctx)
		if err != nil {
			return fmt.Errorf("it does not confirm: %w", err)
		}
		if !acknowledged {
			return errors.New("it refused a message: a queue is full, or a node of the broker failed")
		}
	}
	return nil
}

// watch receives messages that come back because no queue is there: each comes before its confirmation. It tells of one, or "".
func (w *writer) watch(stop <-chan struct{}, told chan<- string) {
	text := ""
	defer func() { told <- text }()
	for {
		select {
		case r, open := <-w.returned:
			if !open {
				return
			}
			text = fmt.Sprintf("a message came back, since there is no queue %q: %s", r.RoutingKey, r.ReplyText)
		case <-stop:
			select { // the last one may wait
			case r, open := <-w.returned:
				if open {
					text = fmt.Sprintf("a message came back, since there is no queue %q: %s", r.RoutingKey, r.ReplyText)
				}
			default:
			}
			return
		}
	}
}

// Close implements destination.Writer.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.close()
	return nil
}

func (w *writer) close() {
	rabbitclient.Close(w.conn)
	w.conn, w.channel = nil, nil
}

// Probe implements destination.Prober.
func (w *writer) Probe(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.connect(ctx); err != nil {
		return fault.E("sinks.Try", fault.Unavailable, w.entry.URL, w.dialer.Plain(err))
	}
	return nil
}
