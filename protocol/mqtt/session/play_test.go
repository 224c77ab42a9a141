package session_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"voltbus/protocol/mqtt/brokertest"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// play is a broker, its clients and a clock that the test moves.
type play struct {
	t      testing.TB
	broker *brokertest.Broker
	config session.Config
	hooks  brokertest.Hooks
	now    time.Time
	links  map[string]*brokertest.Link
}

func newPlay(t testing.TB, config session.Config, hooks brokertest.Hooks) *play {
	t.Helper()
	p := &play{t: t, config: config, hooks: hooks, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), links: map[string]*brokertest.Link{}}
	p.broker = brokertest.New(config, hooks, func() time.Time { return p.now })
	return p
}

// wire turns "10 0D 'MQTT' 05" into bytes.
func wire(t testing.TB, s string) []byte {
	t.Helper()
	var b []byte
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			b = append(b, part...)
			continue
		}
		data, err := hex.DecodeString(strings.Join(strings.Fields(part), ""))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		b = append(b, data...)
	}
	return b
}

// dial opens a connection for a client, in place of the one it has, if any.
func (p *play) dial(name string) *brokertest.Link {
	p.links[name] = p.broker.Dial(func() {})
	return p.links[name]
}

// connect connects a client and returns what the broker sends.
func (p *play) connect(c packet.Connect) string {
	p.t.Helper()
	if c.Version == 0 {
		c.Version = packet.V5
	}
	b, err := c.Append(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	name := string(c.ClientID)
	p.dial(name).Receive(b)
	return p.said(name)
}

// online connects a client that has nothing special.
func (p *play) online(names ...string) {
	p.t.Helper()
	for _, name := range names {
		if got := p.connect(packet.Connect{ClientID: []byte(name), CleanStart: true}); !strings.HasPrefix(got, "20 0B 00 00") {
			p.t.Fatalf("%s: CONNACK %s", name, got)
		}
	}
}

// send lets a client say something.
func (p *play) send(name, literal string) { p.links[name].Receive(wire(p.t, literal)) }

// said returns what the broker sent to a client since it was last asked, and "end" if it then
// closes the connection, which the client does too.
func (p *play) said(name string) string {
	out, over := p.links[name].Take(nil)
	s := fmt.Sprintf("% X", out)
	if over {
		p.links[name].Close()
		s = strings.TrimSpace(s + " end")
	}
	return s
}

// expect checks what the broker sent to a client. A literal that ends in "…" is the beginning.
func (p *play) expect(name, literal string) {
	p.t.Helper()
	got := p.said(name)
	over := strings.HasSuffix(literal, "end")
	rest, open := strings.CutSuffix(strings.TrimSpace(strings.TrimSuffix(literal, "end")), "…")
	want := fmt.Sprintf("% X", wire(p.t, rest))
	if over && !open {
		want = strings.TrimSpace(want + " end")
	}
	if open && (!strings.HasPrefix(got, want) || over != strings.HasSuffix(got, "end")) || !open && got != want {
		p.t.Errorf("%s got  %s\nwant %s", name, got, want)
	}
}

// exchange is one line of a conversation.
type exchange struct{ name, send, want string }

func (p *play) run(lines ...exchange) {
	p.t.Helper()
	for _, l := range lines {
		if l.send != "" {
			p.send(l.name, l.send)
		}
		p.expect(l.name, l.want)
	}
}

// lose breaks the connection of a client.
func (p *play) lose(name string) { p.links[name].Close() }

// pass lets time pass.
func (p *play) pass(d time.Duration) {
	p.now = p.now.Add(d)
	p.broker.Tick()
}

// properties of a CONNECT.
func props() packet.Properties { return nil }

// kept is a CONNECT whose session lasts for an hour.
func kept(name string) packet.Connect {
	return packet.Connect{ClientID: []byte(name), Properties: props().WithUint(packet.SessionExpiry, 3600)}
}

// frames cuts what a broker sent into packets, as text.
func frames(t testing.TB, data []byte) []string {
	t.Helper()
	var all []string
	for len(data) > 0 {
		f, n, err := packet.Split(data, 0)
		if err != nil || n == 0 {
			t.Fatalf("broker sent % X: %v", data, err)
		}
		all = append(all, f.Type.String())
		data = data[n:]
	}
	return all
}
