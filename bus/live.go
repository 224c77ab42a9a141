package bus

import (
	"context"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

// Forms says which live messages a scan gives.
type Forms struct {
	Scan  bool // one message for the whole device
	Point bool // one message for each point
}

// Publisher sends live messages. It keeps its buffers: use one for each goroutine.
type Publisher struct {
	bus     *Bus
	subject []byte
	body    []byte
}

// NewPublisher returns a publisher of the node.
func (b *Bus) NewPublisher() *Publisher { return &Publisher{bus: b} }

// Publish sends the scan in the wanted forms. Live messages are delivered at most once: it waits
// for no subscriber. The scan may be reused when it returns.
func (p *Publisher) Publish(scan *point.Scan, forms Forms) error {
	if forms.Scan {
		p.subject = wire.AppendSubject(append(p.subject[:0], wire.ScanPrefix...), scan.Device)
		p.body = wire.AppendScan(p.body[:0], scan)
		if err := p.send(); err != nil {
			return err
		}
	}
	if !forms.Point {
		return nil
	}
	for i := range scan.Samples {
		p.subject = wire.AppendSubject(append(p.subject[:0], wire.PointPrefix...), scan.Samples[i].Point)
		p.body = wire.AppendSample(p.body[:0], &scan.Samples[i])
		if err := p.send(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Publisher) send() error {
	if err := p.bus.out.Publish(string(p.subject), p.body); err != nil {
		return fault.E("bus.Publish", fault.Unavailable, string(p.subject), err)
	}
	return nil
}

// Message is a received live message.
type Message struct {
	Device point.Path
	Data   []byte // JSON, see wire.AppendScan; not to be changed
}

// Scans calls deliver for every scan that holds a point which the pattern selects, until ctx
// ends, and then returns nil; points that are not selected are left out. It holds at most queue
// messages: when deliver is slower than the bus for so long that the queue is full, it ends with
// fault.Unavailable, so that a slow reader is cut off and nobody else slowed.
func (b *Bus) Scans(ctx context.Context, pattern point.Pattern, queue int, deliver func(Message) error) error {
	messages := make(chan *nats.Msg, queue)
	full := make(chan struct{})
	var once sync.Once
	receive := func(m *nats.Msg) {
		select {
		case messages <- m:
		default:
			once.Do(func() { close(full) })
		}
	}
	for _, subject := range wire.ScanSubjects(pattern) {
		sub, err := b.in.Subscribe(subject, receive)
		if err != nil {
			return fault.E("bus.Scans", fault.Unavailable, subject, err)
		}
		defer sub.Unsubscribe() //nolint:errcheck // fails only when the connection is gone
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-full:
			return fault.E("bus.Scans", fault.Unavailable, string(pattern),
				fmt.Errorf("the reader was too slow: more than %d live messages waited for it; read faster or narrow the pattern", queue))
		case m := <-messages:
			if err := deliverScan(m, pattern, deliver); err != nil {
				return err
			}
		}
	}
}

func deliverScan(m *nats.Msg, pattern point.Pattern, deliver func(Message) error) error {
	device, err := wire.ParseSubject(wire.ScanPrefix, m.Subject)
	if err != nil {
		return nil //nolint:nilerr // somebody else's subject is not ours to judge
	}
	data, err := wire.FilterScan(m.Data, device, pattern)
	if err != nil || data == nil {
		return nil //nolint:nilerr // a message that is no scan is skipped
	}
	return deliver(Message{Device: device, Data: data})
}
