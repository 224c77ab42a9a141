package bus

import (
	"encoding/json"
	"sync"

	"github.com/nats-io/nats.go"

	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

// Forms says which live messages a scan gives.
type Forms struct {
	Scan  bool // one message for the whole device
	Point bool // one message for each point

	// The same under breadth-first subjects, which begin with the last segment of the path.
	BreadthScan, BreadthPoint bool
}

// Publisher sends live messages. It keeps its buffers: use one for each goroutine.
type Publisher struct {
	out     *nats.Conn
	subject []byte
	body    []byte
}

// NewPublisher returns a publisher of the node.
func (b *Bus) NewPublisher() *Publisher { return &Publisher{out: b.requester.out} }

// Publish sends the scan in the wanted forms. Live messages are delivered at most once: it waits
// for no subscriber. The scan may be reused when it returns.
func (p *Publisher) Publish(scan *point.Scan, forms Forms) error {
	if forms.Scan || forms.BreadthScan {
		p.body = wire.AppendScan(p.body[:0], scan)
		if err := p.sendUnder(scan.Device, prefixIf(forms.Scan, wire.ScanPrefix), prefixIf(forms.BreadthScan, wire.BreadthScanPrefix)); err != nil {
			return err
		}
	}
	if !forms.Point && !forms.BreadthPoint {
		return nil
	}
	for i := range scan.Samples {
		p.body = wire.AppendSample(p.body[:0], &scan.Samples[i])
		err := p.sendUnder(scan.Samples[i].Point, prefixIf(forms.Point, wire.PointPrefix), prefixIf(forms.BreadthPoint, wire.BreadthPointPrefix))
		if err != nil {
			return err
		}
	}
	return nil
}

// prefixIf returns the prefix of a form that is wanted, and "" of one that is not.
func prefixIf(wanted bool, prefix string) string {
	if !wanted {
		return ""
	}
	return prefix
}

// sendUnder sends the body under the depth-first subject of the path and under the breadth-first one, each
// unless its prefix is "".
func (p *Publisher) sendUnder(path point.Path, depthFirst, breadthFirst string) error {
	if depthFirst != "" {
		p.subject = wire.AppendSubject(append(p.subject[:0], depthFirst...), path)
		if err := p.send(); err != nil {
			return err
		}
	}
	if breadthFirst == "" {
		return nil
	}
	p.subject = wire.AppendBreadthSubject(append(p.subject[:0], breadthFirst...), path)
	return p.send()
}

func (p *Publisher) send() error {
	if err := p.out.Publish(string(p.subject), p.body); err != nil {
		return fault.E("bus.Publish", fault.Unavailable, string(p.subject), trouble.Of(err))
	}
	return nil
}

// Subscribe calls deliver with every live message of a scan that holds a selected point, until stop
// is called; points that are not selected are left out. deliver is called by one goroutine at a
// time, never again after stop has returned, and must return at once: messages that pile up behind
// it are lost. It must not change the message, nor call stop.
func (b *Bus) Subscribe(sel wire.Selection, deliver func(message json.RawMessage)) (stop func(), err error) {
	s := &subscription{sel: sel, deliver: deliver}
	for _, subject := range sel.ScanSubjects() {
		sub, err := b.in.Subscribe(subject, s.receive)
		if err != nil {
			s.stop()
			return nil, fault.E("bus.Subscribe", fault.Unavailable, subject, trouble.Of(err))
		}
		s.subs = append(s.subs, sub)
	}
	return s.stop, nil
}

// subscription is one subscriber, who may need several subjects.
type subscription struct {
	sel  wire.Selection
	subs []*nats.Subscription

	mu      sync.Mutex
	deliver func(json.RawMessage) // nil when stopped
}

func (s *subscription) receive(m *nats.Msg) {
	device, err := wire.ParseSubject(wire.ScanPrefix, m.Subject)
	if err != nil {
		return // somebody else's subject is not ours to judge
	}
	data, err := s.sel.FilterScan(m.Data, device)
	if err != nil || data == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deliver != nil {
		s.deliver(data)
	}
}

func (s *subscription) stop() {
	s.mu.Lock()
	s.deliver = nil
	s.mu.Unlock()
	for _, sub := range s.subs {
		_ = sub.Unsubscribe() // fails only when the connection is gone, and the subscription with it
	}
}
