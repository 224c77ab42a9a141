package peers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/rig/scan"
	"voltbus/point"
	"voltbus/wire"
)

// Broker is the message bus of another project.
type Broker struct {
	Name string
	Find func() error // nil if it is here, else how to get it
	// scrape runs the scrapes of a set-up over the broker.
	scrape func(context.Context, *Scrapes) ([]scan.Scrape, error)
}

// Brokers returns the message buses that can be compared with.
func Brokers() []Broker {
	return []Broker{zeroMQ(), mosquitto(), rabbitMQ()}
}

// Scrapes is the work of rig.Scan over another bus: as many messages of the same bytes to as many
// listeners, each with an encrypted connection of its own. The messages are made beforehand, which
// rig.Scan does within the measured time.
type Scrapes struct {
	Devices   int
	Points    int // of each device
	Listeners int
	Scans     int // that are measured; one more comes before as the warm-up
	Dir       string
	Watch     func(scan.Scrape) // nil for nobody
}

// Run runs the scrapes and returns one figure for each.
func (b *Broker) Run(ctx context.Context, s *Scrapes) ([]scan.Scrape, error) { return b.scrape(ctx, s) }

// message is one device's message.
type message struct {
	topic string // with the separator "/"
	body  []byte
}

// messages are those of one scrape.
func (s *Scrapes) messages() []message {
	now := time.Now().UTC()
	out := make([]message, s.Devices)
	for i := range out {
		device := point.Path(fmt.Sprintf("campus/building%d/device%d", i/100, i))
		samples := make([]point.Sample, s.Points)
		for k := range samples {
			samples[k] = point.Sample{
				Point: point.Path(fmt.Sprintf("%s/point%d", device, k)), Time: now, Value: point.FloatOf(float64(i*k%997) / 7),
			}
		}
		out[i] = message{string(device), wire.AppendScan(nil, &point.Scan{Device: device, Slot: now, Time: now, Samples: samples})}
	}
	return out
}

// network is a broker that runs, as its clients see it.
type network interface {
	// publish sends a message, or keeps it until flush. One goroutine calls both.
	publish(ctx context.Context, m *message) error
	flush() error
	// listen calls receive with each message, from one goroutine, until close.
	listen(ctx context.Context, receive func()) error
	close() error
}

// over publishes the scrapes one after another and waits for each at all listeners.
func (s *Scrapes) over(ctx context.Context, n network) (_ []scan.Scrape, err error) {
	defer func() { err = errors.Join(err, n.close()) }()
	arrived := make(chan time.Time, s.Listeners)
	for range s.Listeners {
		received := 0
		err := n.listen(ctx, func() {
			if received++; received%s.Devices == 0 {
				arrived <- time.Now()
			}
		})
		if err != nil {
			return nil, err
		}
	}
	messages := s.messages()
	var scrapes []scan.Scrape
	for i := range s.Scans + 1 {
		one, err := s.once(ctx, n, messages, arrived)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue // the warm-up
		}
		scrapes = append(scrapes, one)
		if s.Watch != nil {
			s.Watch(one)
		}
	}
	return scrapes, nil
}

// scrapeTime is how long one scrape may take.
const scrapeTime = 5 * time.Minute

func (s *Scrapes) once(ctx context.Context, n network, messages []message, arrived <-chan time.Time) (scan.Scrape, error) {
	began := time.Now()
	for i := range messages {
		if err := n.publish(ctx, &messages[i]); err != nil {
			return scan.Scrape{}, err
		}
	}
	if err := n.flush(); err != nil {
		return scan.Scrape{}, err
	}
	late := time.NewTimer(scrapeTime)
	defer late.Stop()
	var one scan.Scrape
	for range s.Listeners {
		select {
		case at := <-arrived:
			one.Mean += at.Sub(began) / time.Duration(s.Listeners)
			one.Slowest = max(one.Slowest, at.Sub(began))
		case <-late.C:
			return one, fault.E("peers.Scrapes", fault.Timeout, "", errors.New("not every message arrived at every listener; the broker drops some"))
		case <-ctx.Done():
			return one, fault.E("peers.Scrapes", fault.Canceled, "", ctx.Err())
		}
	}
	return one, nil
}

// dotted is the topic with the separator that AMQP uses.
func (m *message) dotted() string { return strings.ReplaceAll(m.topic, "/", ".") }
