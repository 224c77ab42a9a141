// Package rabbitmq sends readings to RabbitMQ and other brokers of AMQP 0-9-1: a persistent message for each reading, an object in JSON. A message
// counts as sent when the broker confirmed it.
package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"voltbus/fault"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations. The address is amqp://host:port/virtual-host, or amqps://. Readings go to the queue that is
// named as into, which is made if it is missing; with ?exchange=name to that exchange, with the point's name as the routing key.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 2000, Parallel: 1} } //nolint:mnd // confirmed together

type writer struct {
	entry    *setting.Sink
	config   amqp.Config
	address  string
	exchange string

	mu       sync.Mutex
	conn     *amqp.Connection
	channel  *amqp.Channel
	returned chan amqp.Return
}

const (
	dialTime  = 10 * time.Second
	heartbeat = 10 * time.Second
)

func open(s *setting.Sink, e destination.Environment) (destination.Writer, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, fault.E("sinks.Open", fault.Invalid, s.URL, err)
	}
	secure, err := endpoint.TLS(s)
	if err != nil {
		return nil, err
	}
	secure.ServerName = u.Hostname()
	w := &writer{entry: s, exchange: u.Query().Get("exchange")}
	w.address = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	w.config = amqp.Config{
		Vhost: "/", Heartbeat: heartbeat, Properties: amqp.Table{"connection_name": "voltbus " + e.Node},
		Dial: func(network, address string) (net.Conn, error) {
			return (&net.Dialer{Timeout: dialTime}).Dial(network, address)
		},
	}
	if path := strings.TrimPrefix(u.Path, "/"); path != "" {
		w.config.Vhost = path
	}
	if u.Scheme == "amqps" {
		w.config.TLSClientConfig = secure
	}
	return w, nil
}

// connect connects unless connected.
func (w *writer) connect() error {
	if w.channel != nil && !w.channel.IsClosed() {
		return nil
	}
	w.close()
	password, err := endpoint.Password(w.entry)
	if err != nil {
		return err
	}
	config := w.config
	if w.entry.User != "" {
		config.SASL = []amqp.Authentication{&amqp.PlainAuth{Username: w.entry.User, Password: password}}
	}
	if w.conn, err = amqp.DialConfig(w.address, config); err != nil {
		return err
	}
	if w.channel, err = w.conn.Channel(); err != nil {
		return err
	}
	if w.exchange == "" {
		_, err = w.channel.QueueDeclare(w.entry.Into, true, false, false, false, nil)
		var refused *amqp.Error
		if errors.As(err, &refused) && refused.Code == amqp.PreconditionFailed { // it is there, with other properties
			w.channel, err = w.conn.Channel()
		}
		if err != nil {
			return err
		}
	}
	w.returned = w.channel.NotifyReturn(make(chan amqp.Return, 1))
	return w.channel.Confirm(false)
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.connect()
	if err == nil {
		err = w.publish(ctx, rows)
	}
	if err != nil {
		w.close()
		return nil, fault.E("sinks.Append", fault.Unavailable, w.entry.URL, w.plain(err))
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

// plain says in plain words what is wrong.
func (w *writer) plain(err error) error {
	var e *amqp.Error
	switch {
	case errors.Is(err, amqp.ErrCredentials), errors.Is(err, amqp.ErrSASL):
		return fmt.Errorf("it does not accept the user %q or the password; look at user and password_file", w.entry.User)
	case errors.Is(err, amqp.ErrVhost):
		return fmt.Errorf("the virtual host %q is not there, or the user %q may not use it", w.config.Vhost, w.entry.User)
	case errors.As(err, &e) && e.Code == amqp.AccessRefused:
		return fmt.Errorf("the user %q may not do this: %s", w.entry.User, e.Reason)
	case errors.As(err, &e) && e.Code == amqp.NotFound:
		return fmt.Errorf("%s; make it, or write another one in url", e.Reason)
	}
	return endpoint.Plain(err)
}

// Close implements destination.Writer.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.close()
	return nil
}

func (w *writer) close() {
	if w.conn != nil {
		_ = w.conn.CloseDeadline(time.Now().Add(time.Second))
	}
	w.conn, w.channel = nil, nil
}
