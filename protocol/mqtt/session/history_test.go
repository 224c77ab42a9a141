package session_test

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/protocol/mqtt/brokertest"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// party is a client with its connection, whose halves are cut off at any time.
type party struct {
	client   *session.Client
	link     *brokertest.Link
	up       []byte // towards the broker
	got      map[packet.QoS][]int
	answered int
}

// world is a broker with a sender and a receiver.
type world struct {
	t        *rapid.T
	broker   *brokertest.Broker
	now      time.Time
	sender   *party
	receiver *party
	sent     map[packet.QoS]int
}

func (w *world) hooks() brokertest.Hooks {
	return brokertest.Hooks{Hold: func(*session.Publication) bool { return true }}
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), sent: map[packet.QoS]int{}}
	w.broker = brokertest.New(session.Config{MaxInflight: 3, ReceiveMaximum: 4, MaxQueued: 1 << 20, TopicAliases: 2}, w.hooks(), w.clock)
	version := rapid.SampledFrom([]packet.Version{packet.V311, packet.V5}).Draw(t, "version")
	w.sender, w.receiver = newParty("sender", version), newParty("receiver", version)
	w.dial(w.receiver)
	w.settle()
	s := packet.Subscribe{Subscriptions: []packet.Subscription{{Filter: []byte("q/+"), Options: 2}}}
	var err error
	if w.receiver.up, _, err = w.receiver.client.Subscribe(w.now, s, w.receiver.up); err != nil {
		t.Fatal(err)
	}
	w.settle()
	return w
}

func (w *world) clock() time.Time { return w.now }

func newParty(name string, v packet.Version) *party {
	p := &party{got: map[packet.QoS][]int{}}
	c := packet.Connect{Version: v, ClientID: []byte(name)}
	if v == packet.V5 {
		c.Properties = c.Properties.WithUint(packet.SessionExpiry, 0xFFFF_FFFF)
	}
	p.client = session.NewClient(c, session.Events{
		Message: func(m *packet.Publish) {
			q := packet.QoS(m.Topic[len(m.Topic)-1] - '0')
			n, _ := strconv.Atoi(string(m.Payload))
			p.got[q] = append(p.got[q], n)
		},
		Answered: func(uint16, packet.Code) { p.answered++ },
	})
	return p
}

// dial connects a party again; what was on the way is lost.
func (w *world) dial(p *party) {
	if p.link != nil {
		p.link.Close()
	}
	p.link = w.broker.Dial(func() {})
	var err error
	if p.up, err = p.client.Start(w.now, nil); err != nil {
		w.t.Fatal(err)
	}
}

// move carries some bytes of a party up, and what the broker sends down, as far as the cuts say.
func (w *world) move(p *party, up, down int) {
	up = min(up, len(p.up))
	p.link.Receive(p.up[:up])
	p.up = append([]byte(nil), p.up[up:]...)
	out, over := p.link.Take(nil)
	if over {
		w.t.Fatalf("the broker closed the connection after % X", out)
	}
	if down < len(out) { // the connection breaks within what was sent
		out = out[:down]
	}
	var err error
	if p.up, err = p.client.Receive(w.now, out, p.up); err != nil {
		w.t.Fatal(err)
	}
	if down < cap(out) && len(out) == down {
		w.dial(p)
	}
}

const all = 1 << 30

// settle carries everything until nothing moves.
func (w *world) settle() {
	for range 1000 {
		n := w.broker.Commit(packet.Success)
		before := len(w.sender.up) + len(w.receiver.up)
		if w.sender.link != nil {
			w.move(w.sender, all, all)
		}
		w.move(w.receiver, all, all)
		if n == 0 && before == 0 && len(w.sender.up)+len(w.receiver.up) == 0 && w.broker.Held() == 0 {
			return
		}
	}
	w.t.Fatal("broker and clients do not come to rest")
}

// Whatever is cut off where, QoS 2 arrives once and QoS 1 at least once, in order.
func TestNothingIsLostOrDoubledByBrokenConnections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.dial(w.sender)
		w.settle()
		cut := func(t *rapid.T) int { return rapid.OneOf(rapid.Just(all), rapid.IntRange(0, 60)).Draw(t, "cut") }
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) {
				q := packet.QoS(rapid.IntRange(1, 2).Draw(t, "QoS"))
				m := packet.Publish{QoS: q, Topic: fmt.Appendf(nil, "q/%d", q), Payload: fmt.Append(nil, w.sent[q]+1)}
				out, _, err := w.sender.client.Publish(w.now, m, w.sender.up)
				if err == nil {
					w.sender.up = out
					w.sent[q]++
				}
			},
			"carry up and down": func(t *rapid.T) {
				p := rapid.SampledFrom([]*party{w.sender, w.receiver}).Draw(t, "party")
				w.move(p, cut(t), cut(t))
			},
			"break":  func(t *rapid.T) { w.dial(rapid.SampledFrom([]*party{w.sender, w.receiver}).Draw(t, "party")) },
			"commit": func(*rapid.T) { w.broker.Commit(packet.Success) },
			"restart": func(t *rapid.T) {
				w.broker.Commit(packet.Success)
				w.restart()
			},
		})
		w.settle()
		w.check()
	})
}

// restart replaces the broker by one that has the states of its sessions.
func (w *world) restart() {
	states := [][]byte{w.broker.State("sender"), w.broker.State("receiver")}
	w.broker = brokertest.New(session.Config{MaxInflight: 3, ReceiveMaximum: 4, MaxQueued: 1 << 20, TopicAliases: 2}, w.hooks(), w.clock)
	for i, name := range []string{"sender", "receiver"} {
		if states[i] == nil {
			continue
		}
		if err := w.broker.Restore(states[i]); err != nil {
			w.t.Fatal(err)
		}
		if again := w.broker.State(name); !bytes.Equal(again, states[i]) {
			w.t.Fatalf("state of %s: % X\nrestored:  % X", name, states[i], again)
		}
	}
	w.sender.link, w.receiver.link = nil, nil
	w.dial(w.sender)
	w.dial(w.receiver)
}

func (w *world) check() {
	for i, n := range w.receiver.got[2] {
		if n != i+1 {
			w.t.Fatalf("QoS 2 arrived as %v", w.receiver.got[2])
		}
	}
	if len(w.receiver.got[2]) != w.sent[2] {
		w.t.Fatalf("%d of %d messages with QoS 2 arrived", len(w.receiver.got[2]), w.sent[2])
	}
	seen := 0
	for _, n := range w.receiver.got[1] { // repeats, but no gap: [MQTT-4.6.0-6]
		if n > seen+1 {
			w.t.Fatalf("QoS 1 arrived as %v", w.receiver.got[1])
		}
		seen = max(seen, n)
	}
	if seen != w.sent[1] || w.sender.client.Unanswered() > 0 {
		w.t.Fatalf("%d of %d messages with QoS 1 arrived, %d have no answer", seen, w.sent[1], w.sender.client.Unanswered())
	}
}

// FuzzReceive sends a connected client's broker anything: it must not panic, what it sends must be
// packets, and the state that it has must survive a restart.
func FuzzReceive(f *testing.F) {
	for _, s := range []string{
		"82 0A 00 01 00 00 04 'x/+/' 00", "34 07 00 01 'x' 00 01 00 '1' 62 02 00 01", "32 07 00 01 'x' 00 02 00 '2'",
		"82 07 00 01 00 00 01 '#' 02 34 07 00 01 'x' 00 01 00 '1' 50 02 00 01 70 02 00 01", "30 08 00 01 'x' 03 23 00 02 '1'",
		"A2 06 00 05 00 00 01 '#'", "C0 00", "E0 00", "82 10 00 01 00 00 0A '$share/g/x' 00 31 05 00 01 'x' 00 'm'", "F0 00",
	} {
		f.Add(wire(f, s), true)
		f.Add(wire(f, s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, five bool) {
		p := newPlay(t, session.Config{MaxPacket: 1000, TopicAliases: 3}, brokertest.Hooks{})
		c := kept("a")
		c.Version = packet.V311
		if five {
			c.Version = packet.V5
		}
		p.connect(c)
		p.links["a"].Receive(data)
		out, over := p.links["a"].Take(nil)
		frames(t, out)
		if over {
			p.lose("a")
		}
		state := p.broker.State("a")
		if state == nil {
			return
		}
		if !over {
			p.lose("a")
			state = p.broker.State("a")
		}
		q := newPlay(t, p.config, p.hooks)
		if err := q.broker.Restore(state); err != nil {
			t.Fatalf("% X: %v", state, err)
		}
		if again := q.broker.State("a"); !bytes.Equal(state, again) {
			t.Fatalf("state    % X\nrestored % X", state, again)
		}
		frames(t, reconnect(q, c))
	})
}

// reconnect connects a client and returns what the broker sends.
func reconnect(p *play, c packet.Connect) []byte {
	b, err := c.Append(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.dial("a").Receive(b)
	out, _ := p.links["a"].Take(nil)
	return out
}

// FuzzRestore feeds any state: no panic, and what is taken reads as it was written.
func FuzzRestore(f *testing.F) {
	p := newPlay(f, session.Config{}, brokertest.Hooks{})
	c := kept("a")
	c.Will = &packet.Will{Topic: []byte("w"), Properties: props().WithUint(packet.WillDelay, 100)}
	p.connect(c)
	p.send("a", "82 0A 00 01 02 0B 05 00 01 '#' 02 34 07 00 01 'x' 00 01 00 '1'")
	f.Add(p.broker.State("a"))
	f.Fuzz(func(t *testing.T, state []byte) {
		q := newPlay(t, session.Config{}, brokertest.Hooks{})
		if q.broker.Restore(state) == nil {
			q.connect(kept("a"))
		}
	})
}
