//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// work is what the clients do.
type work struct {
	found                  *figures
	idle, messages, rounds int
	rest                   time.Duration // how long the broker gets to return its free memory; 0: it is asked by SIGUSR1
}

const (
	senders     = 64
	window      = 50 // messages of a sender without an answer
	subscribers = 1000
	burst       = 50 // messages that each subscriber gets before the next ones are sent
)

// payload is what is published.
//
//nolint:gochecknoglobals // never changed
var payload = body()

// measure finds out what a broker needs, in one run.
func (l *work) measure(ctx context.Context, name, addr string, pid int) error {
	clients, err := l.silent(ctx, name, addr, pid)
	if err != nil {
		return err
	}
	defer closeAll(clients)
	times, err := l.answers(ctx, addr)
	if err != nil {
		return err
	}
	for _, percent := range []float64{50, 99} {
		l.found.add(name, fmt.Sprintf("answer to a message with QoS 1, %g %%", percent), "ms", times.At(percent).Seconds()*1e3)
	}
	if err := l.timed(pid, name, "QoS 1 messages", func() (int, error) { return l.messages, l.publish(ctx, addr) }); err != nil {
		return err
	}
	if err := l.timed(pid, name, "QoS 0 messages", func() (int, error) { return l.messages, l.flood(ctx, addr) }); err != nil {
		return err
	}
	return l.timed(pid, name, "deliveries", func() (int, error) { return l.rounds * burst * subscribers, l.fanOut(ctx, addr) })
}

// silent connects the clients that are silent from then on, and says how fast and for how much memory.
func (l *work) silent(ctx context.Context, name, addr string, pid int) ([]*peer, error) {
	before, err := l.resident(pid)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	clients, err := dialAll(ctx, addr, "idle", l.idle, true)
	if err != nil {
		return nil, err
	}
	l.found.add(name, "clients that connect, subscribe and publish once", "1/s", float64(l.idle)/time.Since(began).Seconds())
	after, err := l.resident(pid)
	if err != nil {
		closeAll(clients)
		return nil, err
	}
	l.found.add(name, "memory before", "MB", float64(before)/1e3)
	l.found.add(name, "memory of a silent client", "kB", float64(after-before)/float64(l.idle))
	return clients, nil
}

// timed says how fast something went and what it cost.
func (l *work) timed(pid int, name, what string, do func() (int, error)) error {
	cpu, err := processor(pid)
	if err != nil {
		return err
	}
	began := time.Now()
	n, err := do()
	if err != nil {
		return err
	}
	took := time.Since(began)
	used, err := processor(pid)
	if err != nil {
		return err
	}
	l.found.add(name, what, "1/s", float64(n)/took.Seconds())
	l.found.add(name, what+", processor time of the broker each", "µs", float64((used-cpu).Microseconds())/float64(n))
	return nil
}

// peer is a client with its connection.
type peer struct {
	*session.Client
	conn     net.Conn
	out      []byte
	online   bool
	answers  int
	messages int
	buffer   []byte
}

func dialAll(ctx context.Context, addr, name string, n int, publish bool) ([]*peer, error) {
	all := make([]*peer, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(32)
	for i := range all {
		g.Go(func() (err error) {
			all[i], err = dial(ctx, addr, fmt.Sprint(name, "-", i), publish)
			return err
		})
	}
	return all, g.Wait()
}

func closeAll(all []*peer) {
	for _, p := range all {
		_ = p.conn.Close()
	}
}

// dial connects a client, subscribes to a topic of its own and publishes a message once.
func dial(ctx context.Context, addr, id string, publish bool) (*peer, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &peer{conn: conn}
	p.Client = session.NewClient(packet.Connect{Version: packet.V5, ClientID: []byte(id), CleanStart: true}, session.Events{
		Connected:  func(ack *packet.Connack) { p.online = ack.Code == packet.Success },
		Answered:   func(uint16, packet.Code) { p.answers++ },
		Subscribed: func(*packet.Suback) { p.answers++ },
		Message:    func(*packet.Publish) { p.messages++ },
	})
	if p.out, err = p.Start(time.Now(), p.out); err != nil {
		return nil, err
	}
	if err := p.until(func() bool { return p.online }); err != nil || !publish {
		return p, err
	}
	s := packet.Subscribe{Subscriptions: []packet.Subscription{{Filter: []byte("devices/" + id + "/set"), Options: 1}}}
	if p.out, _, err = p.Subscribe(time.Now(), s, p.out); err != nil {
		return nil, err
	}
	if err := p.send("devices/"+id+"/state", 1); err != nil {
		return nil, err
	}
	return p, p.until(func() bool { return p.answers == 2 })
}

func (p *peer) send(topic string, qos packet.QoS) (err error) {
	p.out, _, err = p.Publish(time.Now(), packet.Publish{Topic: []byte(topic), QoS: qos, Payload: payload}, p.out)
	return err
}

// until sends what is to be sent and receives until something is so.
func (p *peer) until(so func() bool) error {
	if p.buffer == nil {
		p.buffer = make([]byte, 16<<10)
	}
	for {
		if len(p.out) > 0 {
			if _, err := p.conn.Write(p.out); err != nil {
				return err
			}
			p.out = p.out[:0]
		}
		if so() {
			return nil
		}
		n, err := p.conn.Read(p.buffer)
		if err != nil {
			return err
		}
		if p.out, err = p.Receive(time.Now(), p.buffer[:n], p.out); err != nil {
			return err
		}
	}
}

// publish sends messages with QoS 1 from all senders at once.
func (l *work) publish(ctx context.Context, addr string) error {
	all, err := dialAll(ctx, addr, "sender", senders, false)
	if err != nil {
		return err
	}
	defer closeAll(all)
	var g errgroup.Group
	for i, p := range all {
		g.Go(func() error {
			topic, n := fmt.Sprintf("devices/sender-%d/state", i), l.messages/senders
			for sent := 0; p.answers < n; {
				for ; sent < n && p.Unanswered() < window; sent++ {
					if err := p.send(topic, 1); err != nil {
						return err
					}
				}
				before := p.answers
				if err := p.until(func() bool { return p.answers > before }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// flood sends messages with QoS 0 from all senders at once. Each ends with one with QoS 1, whose answer says that those
// before have arrived.
func (l *work) flood(ctx context.Context, addr string) error {
	all, err := dialAll(ctx, addr, "flood", senders, false)
	if err != nil {
		return err
	}
	defer closeAll(all)
	var g errgroup.Group
	for i, p := range all {
		g.Go(func() error {
			topic := fmt.Sprintf("devices/flood-%d/state", i)
			for range l.messages / senders / burst {
				if err := p.burst(topic); err != nil {
					return err
				}
			}
			if err := p.send(topic, 1); err != nil {
				return err
			}
			return p.until(func() bool { return p.answers == 1 })
		})
	}
	return g.Wait()
}

// fanOut sends bursts to all subscribers; the next one begins when all have the last one.
func (l *work) fanOut(ctx context.Context, addr string) error {
	all, err := dialAll(ctx, addr, "fan", subscribers+1, false)
	if err != nil {
		return err
	}
	defer closeAll(all)
	sender, all := all[0], all[1:]
	done := make(chan struct{}, 1)
	var arrived atomic.Int64
	var g errgroup.Group
	for _, p := range all {
		if err := p.listen("fan"); err != nil {
			return err
		}
		g.Go(func() error {
			return p.receive(l.rounds, func() {
				if arrived.Add(1)%subscribers == 0 {
					done <- struct{}{}
				}
			})
		})
	}
	for range l.rounds {
		if err := sender.burst("fan"); err != nil {
			return err
		}
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			return fmt.Errorf("messages were lost: %d of %d bursts arrived", arrived.Load(), l.rounds*subscribers)
		}
	}
	return g.Wait()
}

// listen subscribes with QoS 0.
func (p *peer) listen(topic string) (err error) {
	s := packet.Subscribe{Subscriptions: []packet.Subscription{{Filter: []byte(topic)}}}
	if p.out, _, err = p.Subscribe(time.Now(), s, p.out); err != nil {
		return err
	}
	return p.until(func() bool { return p.answers == 1 })
}

// receive receives bursts and calls arrived after each.
func (p *peer) receive(rounds int, arrived func()) error {
	for round := 1; round <= rounds; round++ {
		if err := p.until(func() bool { return p.messages >= round*burst }); err != nil {
			return err
		}
		arrived()
	}
	return nil
}

// burst sends a burst with QoS 0.
func (p *peer) burst(topic string) error {
	for range burst {
		if err := p.send(topic, 0); err != nil {
			return err
		}
	}
	return p.until(func() bool { return true })
}
