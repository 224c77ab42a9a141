// Package amqp1 sends readings to brokers of AMQP 1.0, such as RabbitMQ, ActiveMQ Artemis and Azure Service Bus: a durable message for each reading, an
// object in JSON. A message counts as sent when the broker accepted it.
package amqp1

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	amqp "github.com/Azure/go-amqp"

	"voltbus/fault"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint/amqpclient"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations. The address is amqp://host:port, or amqps://. Readings go to the address of the broker that is named as into.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 2000, Parallel: 1} } //nolint:mnd // answered together

type writer struct {
	entry  *setting.Sink
	dialer *amqpclient.Dialer

	mu     sync.Mutex
	conn   *amqp.Conn
	sender *amqp.Sender
}

func open(s *setting.Sink, e destination.Environment) (destination.Writer, error) {
	d, err := amqpclient.New(s.Access(), e.Node)
	return &writer{entry: s, dialer: d}, err
}

// connect connects unless connected. The broker answers each message: the sender does not settle it. Brokers that make what the address names
// make it durable.
func (w *writer) connect(ctx context.Context) (err error) {
	if w.sender != nil {
		return nil
	}
	if w.conn, err = w.dialer.Dial(ctx); err != nil {
		return err
	}
	session, err := w.conn.NewSession(ctx, nil)
	if err != nil {
		return err
	}
	mode := amqp.SenderSettleModeUnsettled
	w.sender, err = session.NewSender(ctx, w.entry.Into, &amqp.SenderOptions{SettlementMode: &mode, TargetDurability: amqp.DurabilityUnsettledState})
	return err
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) (list []destination.Refusal, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err = w.connect(ctx); err == nil {
		list, err = w.send(ctx, rows)
	}
	if err != nil {
		w.close()
		return nil, fault.E("sinks.Append", fault.Unavailable, w.entry.URL, w.dialer.Plain("into", w.entry.Into, err))
	}
	return list, nil
}

// send sends rows, and returns when all are answered.
func (w *writer) send(ctx context.Context, rows []destination.Row) (list []destination.Refusal, err error) {
	receipts := make([]amqp.SendReceipt, len(rows))
	for i := range rows {
		if receipts[i], err = w.sender.SendWithReceipt(ctx, w.message(&rows[i]), nil); err != nil {
			return nil, err
		}
	}
	for i := range receipts {
		outcome, err := receipts[i].Wait(ctx)
		if err != nil {
			return nil, err
		}
		switch verdict, reason := amqpclient.Judge(outcome); verdict {
		case amqpclient.Accepted:
		case amqpclient.Refused:
			list = append(list, destination.Refusal{Row: i, Reason: reason})
		case amqpclient.Again:
			return nil, errors.New(reason)
		}
	}
	return list, nil
}

// message returns a row as a message. The subject is the point with dots, as routing keys are.
func (w *writer) message(r *destination.Row) *amqp.Message {
	subject, media, at := strings.ReplaceAll(r.Name, "/", "."), "application/json", time.UnixMicro(r.Time)
	m := amqp.NewMessage(destination.AppendDocument(nil, "time", r))
	m.Header = &amqp.MessageHeader{Durable: true, Priority: priority}
	m.Properties = &amqp.MessageProperties{MessageID: string(r.Point) + "@" + strconv.FormatInt(r.Time, 10), Subject: &subject, ContentType: &media, CreationTime: &at}
	return m
}

const priority = 4 // the one of messages that name none

// Close implements destination.Writer.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.close()
	return nil
}

func (w *writer) close() {
	amqpclient.Close(w.conn)
	w.conn, w.sender = nil, nil
}
