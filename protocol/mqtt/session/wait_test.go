package session

import (
	"bytes"
	"testing"
	"time"

	"voltbus/protocol/mqtt/packet"
)

// prompt is a broker that keeps every message at once, and lets a client wait for its session if it is told to.
type prompt struct {
	deaf
	answer Answer
}

func (p *prompt) Connect(*Conn, *packet.Connect) Answer   { return p.answer }
func (p *prompt) Publish(*Conn, *Publication) packet.Code { return packet.Success }

func newPrompt(config *Config) *prompt {
	p := &prompt{deaf: deaf{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}}
	p.table = NewTable(config, p)
	return p
}

func connectWire(t *testing.T) []byte {
	t.Helper()
	connect := packet.Connect{Version: packet.V5, ClientID: []byte("a")}
	wire, err := connect.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// A client may have as many messages with QoS 2 unreleased as the server takes; the server must read on, or their PUBREL never comes.
func TestAClientWhoseMessagesAreKeptIsRead(t *testing.T) {
	config := &Config{ReceiveMaximum: 2}
	p := newPrompt(config)
	c := NewConn(p.now, config, p)
	wire := connectWire(t)
	for id := range uint16(2) {
		one := packet.Publish{Topic: []byte("t"), QoS: 2, ID: id + 1}
		var err error
		if wire, err = one.Append(wire, packet.V5); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Receive(p.now, wire, nil); err != nil {
		t.Fatal(err)
	}
	if c.Busy() {
		t.Error("the client is not read, though nothing waits to be committed")
	}
}

func TestAClientWaitsForItsSession(t *testing.T) {
	config := &Config{}
	p := newPrompt(config)
	p.answer.Code = Pending
	c := NewConn(p.now, config, p)
	wire := packet.AppendPing(connectWire(t), packet.PINGREQ)
	out, err := c.Receive(p.now, wire, nil)
	if err != nil || len(out) > 0 {
		t.Fatalf("it is answered % X %v", out, err)
	}
	out, err = c.Resume(p.now, Answer{}, nil)
	if err != nil || len(out) < 4 || out[0] != 0x20 || !bytes.HasSuffix(out, []byte{0xD0, 0}) {
		t.Errorf("it is answered % X %v, want a CONNACK and the PINGRESP", out, err)
	}
	if _, err := c.Resume(p.now, Answer{}, nil); err == nil {
		t.Error("it is answered twice")
	}
	refused := NewConn(p.now, config, p)
	if _, err := refused.Receive(p.now, wire, nil); err != nil {
		t.Fatal(err)
	}
	out, err = refused.Resume(p.now, Answer{Code: packet.ServerUnavailable}, nil)
	if err == nil || len(out) < 4 || out[3] != byte(packet.ServerUnavailable) {
		t.Errorf("it is answered % X %v, want a CONNACK that says why not", out, err)
	}
}
