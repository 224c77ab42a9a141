package session_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/protocol/mqtt/brokertest"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/mqtt/topic"
)

func TestConnectIsAnswered(t *testing.T) {
	tests := []struct {
		name, send, want string
		config           session.Config
	}{
		{"5.0", "10 0F 00 04 'MQTT' 05 02 00 3C 00 00 02 'c1'", "20 0B 00 00 08 21 00 64 27 00 10 00 00", session.Config{}},
		{"3.1.1", "10 0E 00 04 'MQTT' 04 02 00 3C 00 02 'c1'", "20 02 00 00", session.Config{}},
		{"without an identifier", "10 0D 00 04 'MQTT' 05 02 00 3C 00 00 00", "20 18 00 00 15 21 00 64 27 00 10 00 00 12 00 0A 'assigned-1'", session.Config{}},
		{"3.1.1 without an identifier", "10 0C 00 04 'MQTT' 04 02 00 3C 00 00", "20 02 00 00", session.Config{}},
		{"3.1.1 without an identifier and a clean session", "10 0C 00 04 'MQTT' 04 00 00 3C 00 00", "20 02 00 02 end", session.Config{}},
		{
			"with limits of the server", "10 14 00 04 'MQTT' 05 02 00 3C 05 11 FF FF FF FF 00 02 'c1'",
			"20 16 00 00 13 21 00 05 11 00 00 00 0A 27 00 00 04 00 22 00 02 13 00 1E",
			session.Config{ReceiveMaximum: 5, MaxExpiry: 10, MaxPacket: 1024, TopicAliases: 2, KeepAlive: 30},
		},
		{"with an authentication method that nobody knows", "10 13 00 04 'MQTT' 05 02 00 3C 04 15 00 01 'x' 00 02 'c1'", "20 03 00 8C 00 end", session.Config{}},
		{"MQTT 3.1", "10 0E 00 06 'MQIsdp' 03 02 00 3C 00 00", "20 02 00 01 end", session.Config{}},
		{"MQTT 6", "10 0D 00 04 'MQTT' 06 02 00 3C 00 00 00", "20 … end", session.Config{}},
		{"a PINGREQ before", "C0 00", "end", session.Config{}},
		{"a malformed one of 3.1.1", "10 0F 00 04 'MQTT' 04 03 00 3C 00 02 'c1' 00", "end", session.Config{}},
		{"a malformed one of 5.0", "10 0F 00 04 'MQTT' 05 03 00 3C 00 00 02 'c1'", "20 … end", session.Config{}},
		{"too large a packet", "10 FF 7F", "end", session.Config{MaxPacket: 1000}},
		{"twice", "10 0E 00 04 'MQTT' 04 02 00 3C 00 02 'c1' 10 0E 00 04 'MQTT' 04 02 00 3C 00 02 'c1'", "20 02 00 00 end", session.Config{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, tt.config, brokertest.Hooks{})
			p.dial("c")
			p.run(exchange{"c", tt.send, tt.want})
		})
	}
}

func TestMessagesArriveWithEachQoS(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{})
	p.online("a", "b")
	p.run(
		exchange{"b", "82 0A 00 01 00 00 04 'x/+/' 00", "90 04 00 01 00 00"},
		exchange{"b", "82 09 00 02 00 00 03 'x/0' 00", "90 04 00 02 00 00"},
		exchange{"b", "82 09 00 03 00 00 03 'x/1' 01", "90 04 00 03 00 01"},
		exchange{"b", "82 09 00 04 00 00 03 'x/2' 02", "90 04 00 04 00 02"},

		exchange{"a", "34 09 00 03 'x/0' 00 07 00 'm'", "50 02 00 07"},
		exchange{"b", "", "30 07 00 03 'x/0' 00 'm'"},
		exchange{"a", "62 02 00 07", "70 02 00 07"},

		exchange{"a", "32 09 00 03 'x/1' 00 08 00 'm'", "40 02 00 08"},
		exchange{"b", "", "32 09 00 03 'x/1' 00 01 00 'm'"},
		exchange{"b", "40 02 00 01", ""},

		exchange{"a", "34 09 00 03 'x/2' 00 09 00 'm'", "50 02 00 09"},
		exchange{"b", "", "34 09 00 03 'x/2' 00 02 00 'm'"},
		exchange{"a", "3C 09 00 03 'x/2' 00 09 00 'm'", "50 02 00 09"}, // again: [MQTT-4.3.3-10]
		exchange{"b", "", ""},
		exchange{"a", "62 02 00 09", "70 02 00 09"},
		exchange{"a", "62 02 00 09", "70 03 00 09 92"},
		exchange{"b", "50 02 00 02", "62 02 00 02"},
		exchange{"b", "70 02 00 02", ""},

		exchange{"a", "32 08 00 02 'no' 00 0A 00 'm'", "40 03 00 0A 10"}, // nobody is interested
		exchange{"b", "A2 0B 00 05 00 00 03 'x/1' 00 01 '?'", "B0 05 00 05 00 00 11"},
		exchange{"a", "32 09 00 03 'x/1' 00 0B 00 'm'", "40 03 00 0B 10"},
		exchange{"b", "C0 00", "D0 00"},
	)
}

func TestAnswersWaitForTheCommitAndKeepTheirOrder(t *testing.T) {
	hold := func(p *session.Publication) bool { return p.Name != "live" }
	p := newPlay(t, session.Config{}, brokertest.Hooks{Hold: hold})
	p.online("a", "b")
	p.run(
		exchange{"b", "82 07 00 01 00 00 01 '#' 00", "90 04 00 01 00 00"},
		exchange{"a", "32 07 00 01 'x' 00 01 00 '1'", ""},
		exchange{"a", "34 07 00 01 'x' 00 02 00 '2'", ""},
		exchange{"a", "3C 07 00 01 'x' 00 02 00 '2'", ""},    // not handed over again, not answered yet
		exchange{"a", "32 0A 00 04 'live' 00 03 00 '3'", ""}, // done at once, but not before the others
		exchange{"b", "", "30 08 00 04 'live' 00 '3'"},
	)
	if n := p.broker.Commit(packet.Success); n != 2 {
		t.Errorf("%d messages were handed over", n)
	}
	p.expect("a", "40 02 00 01 50 02 00 02 40 02 00 03")
	p.expect("b", "30 05 00 01 'x' 00 '1' 30 05 00 01 'x' 00 '2'")
	p.run(
		exchange{"a", "62 02 00 02", "70 02 00 02"},
		exchange{"a", "32 07 00 01 'x' 00 04 00 '4'", ""},
		exchange{"a", "34 07 00 01 'x' 00 05 00 '5'", ""},
	)
	p.broker.Commit(packet.QuotaExceeded)
	p.expect("a", "40 03 00 04 97 50 03 00 05 97")
	p.expect("b", "")
	p.send("a", "34 07 00 01 'x' 00 05 00 '6'") // the identifier is free
	if p.broker.Held() != 1 {
		t.Error("a message was not handed over")
	}
	p.run(exchange{"a", "62 02 00 05", "E0 … end"}) // a PUBREL without a PUBREC
}

func TestAMessageThatIsNotKeptEndsAConnectionOf311(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{Hold: func(*session.Publication) bool { return true }})
	p.connect(packet.Connect{Version: packet.V311, ClientID: []byte("a"), CleanStart: true})
	p.run(exchange{"a", "32 06 00 01 'x' 00 01 '1'", ""})
	p.broker.Commit(packet.QuotaExceeded)
	p.expect("a", "end")
}

func TestACommitAfterAReconnectAnswersQoS2(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{Hold: func(*session.Publication) bool { return true }})
	p.connect(kept("a"))
	p.run(exchange{"a", "34 07 00 01 'x' 00 02 00 '2'", ""})
	p.lose("a")
	if got := p.connect(kept("a")); !strings.HasPrefix(got, "20 0B 01 00") {
		t.Fatalf("CONNACK %s", got)
	}
	p.run(exchange{"a", "3C 07 00 01 'x' 00 02 00 '2'", ""})
	if n := p.broker.Commit(packet.Success); n != 1 {
		t.Errorf("the message was handed over %d times", n)
	}
	p.expect("a", "50 02 00 02")
	p.run(exchange{"a", "62 02 00 02", "70 02 00 02"})
}

func TestWhatIsUnansweredIsSentAgainInOrder(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{})
	p.online("a")
	p.connect(kept("b"))
	p.run(
		exchange{"b", "82 07 00 01 00 00 01 '#' 02", "90 04 00 01 00 02"},
		exchange{"a", "34 07 00 01 'x' 00 01 00 '1'", "50 02 00 01"},
		exchange{"a", "32 07 00 01 'x' 00 02 00 '2'", "40 02 00 02"},
		exchange{"a", "34 07 00 01 'x' 00 03 00 '3'", "50 02 00 03"},
		exchange{"b", "", "34 07 00 01 'x' 00 01 00 '1' 32 07 00 01 'x' 00 02 00 '2' 34 07 00 01 'x' 00 03 00 '3'"},
		exchange{"b", "50 02 00 01", "62 02 00 01"},
	)
	p.lose("b")
	p.run(
		exchange{"a", "32 07 00 01 'x' 00 04 00 '4'", "40 02 00 04"},
		exchange{"a", "30 05 00 01 'x' 00 '5'", ""}, // QoS 0 does not wait
	)
	want := "20 0B 01 00 08 21 00 64 27 00 10 00 00 62 02 00 01 3A 07 00 01 'x' 00 02 00 '2' 3C 07 00 01 'x' 00 03 00 '3' 32 07 00 01 'x' 00 04 00 '4'"
	p.dial("b").Receive(wire(t, "10 13 00 04 'MQTT' 05 00 00 00 05 11 00 00 0E 10 00 01 'b'"))
	p.expect("b", want)
	p.run(exchange{"b", "70 02 00 01 40 02 00 02 50 02 00 03 70 02 00 03 40 02 00 04", "62 02 00 03"})
	p.connect(kept("b")) // all is answered, and the connection is taken over
	p.run(exchange{"b", "C0 00", "D0 00"})
}

func TestNoMoreIsSentThanTheClientTakes(t *testing.T) {
	p := newPlay(t, session.Config{MaxQueued: 2}, brokertest.Hooks{})
	p.online("a")
	c := kept("b")
	c.Properties = c.Properties.WithUint(packet.ReceiveMaximum, 1).WithUint(packet.MaximumPacketSize, 20)
	p.connect(c)
	p.run(
		exchange{"b", "82 07 00 01 00 00 01 '#' 01", "90 04 00 01 00 01"},
		exchange{"a", "32 07 00 01 'x' 00 01 00 '1'", "40 02 00 01"},
		exchange{"a", "32 07 00 01 'x' 00 02 00 '2'", "40 02 00 02"},
		exchange{"a", "32 16 00 01 'x' 00 03 00 '3333333333333333'", "40 02 00 03"}, // 24 bytes: too large
		exchange{"a", "32 07 00 01 'x' 00 04 00 '4'", "40 02 00 04"},                // the queue is full
		exchange{"b", "", "32 07 00 01 'x' 00 01 00 '1'"},
		exchange{"b", "40 02 00 01", "32 07 00 01 'x' 00 02 00 '2'"},
		exchange{"b", "40 02 00 02", ""},
		exchange{"b", "40 02 00 02", ""}, // answered twice
	)
}

func TestAClientThatSendsTooMuchAtOnceIsCutOff(t *testing.T) {
	p := newPlay(t, session.Config{ReceiveMaximum: 2}, brokertest.Hooks{Hold: func(*session.Publication) bool { return true }})
	p.online("a")
	p.run(
		exchange{"a", "32 07 00 01 'x' 00 01 00 '1'", ""},
		exchange{"a", "34 07 00 01 'x' 00 02 00 '2'", ""},
		exchange{"a", "34 07 00 01 'x' 00 03 00 '3'", "E0 … end"},
	)
}

func TestTopicAliases(t *testing.T) {
	p := newPlay(t, session.Config{TopicAliases: 2}, brokertest.Hooks{})
	p.connect(packet.Connect{ClientID: []byte("a"), CleanStart: true})
	p.connect(packet.Connect{ClientID: []byte("b"), CleanStart: true, Properties: props().WithUint(packet.TopicAliasMaximum, 1)})
	p.run(
		exchange{"b", "82 07 00 01 00 00 01 '#' 00", "90 04 00 01 00 00"},
		exchange{"a", "30 08 00 01 'x' 03 23 00 02 '1'", ""},
		exchange{"b", "", "30 08 00 01 'x' 03 23 00 01 '1'"}, // the server's own alias
		exchange{"a", "30 07 00 00 03 23 00 02 '2'", ""},
		exchange{"b", "", "30 07 00 00 03 23 00 01 '2'"},
		exchange{"a", "30 08 00 01 'y' 03 23 00 02 '3'", ""},
		exchange{"b", "", "30 05 00 01 'y' 00 '3'"}, // it has no more
		exchange{"a", "30 07 00 00 03 23 00 02 '4'", ""},
		exchange{"b", "", "30 05 00 01 'y' 00 '4'"},
		exchange{"a", "30 07 00 00 03 23 00 01 '5'", "E0 … end"}, // never set
	)
	p.online2("a")
	p.run(exchange{"a", "30 08 00 01 'x' 03 23 00 03 '1'", "E0 … end"}) // larger than allowed
}

// online2 connects a client again whatever the CONNACK says.
func (p *play) online2(name string) {
	p.connect(packet.Connect{ClientID: []byte(name), CleanStart: true})
}

func TestMessagesExpire(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{})
	p.online("a")
	p.connect(kept("b"))
	p.run(exchange{"b", "82 07 00 01 00 00 01 '#' 01", "90 04 00 01 00 01"})
	p.lose("b")
	p.run(
		exchange{"a", "32 0C 00 01 'x' 00 01 05 02 00 00 00 0A '1'", "40 02 00 01"},
		exchange{"a", "32 0C 00 01 'x' 00 02 05 02 00 00 00 64 '2'", "40 02 00 02"},
	)
	p.pass(11 * time.Second)
	p.dial("b").Receive(wire(t, "10 13 00 04 'MQTT' 05 00 00 00 05 11 00 00 0E 10 00 01 'b'"))
	p.expect("b", "20 0B 01 00 08 21 00 64 27 00 10 00 00 32 0C 00 01 'x' 00 02 05 02 00 00 00 59 '2'")
}

func TestWills(t *testing.T) {
	will := func(delay uint32) packet.Connect {
		w := &packet.Will{Topic: []byte("w"), Payload: []byte("!")}
		if delay > 0 {
			w.Properties = props().WithUint(packet.WillDelay, delay)
		}
		return packet.Connect{ClientID: []byte("a"), Will: w, Properties: props().WithUint(packet.SessionExpiry, 60)}
	}
	tests := []struct {
		name  string
		delay uint32
		end   func(p *play)
		want  bool
	}{
		{"the connection is lost", 0, func(p *play) { p.lose("a") }, true},
		{"the client says goodbye", 0, func(p *play) { p.send("a", "E0 00"); p.said("a") }, false},
		{"the client says goodbye with its will", 0, func(p *play) { p.send("a", "E0 01 04"); p.said("a") }, true},
		{"a malformed packet comes", 0, func(p *play) { p.send("a", "36 00"); p.said("a") }, true},
		{"the delay has not passed", 10, func(p *play) { p.lose("a"); p.pass(9 * time.Second) }, false},
		{"the delay has passed", 10, func(p *play) { p.lose("a"); p.pass(10 * time.Second) }, true},
		{"the client is back in time", 10, func(p *play) { p.lose("a"); p.connect(kept("a")); p.pass(time.Minute) }, false},
		{"the session ends before the delay", 100, func(p *play) { p.lose("a"); p.pass(60 * time.Second) }, true},
		{"the session is taken over", 0, func(p *play) { p.connect(kept("a")) }, true},
		{"the session is taken over within the delay", 10, func(p *play) { p.connect(kept("a")) }, false},
		{"a clean start ends the session", 10, func(p *play) { p.online("a") }, true},
		{"the client is silent", 0, func(p *play) { p.pass(time.Hour); p.links["a"].Tick(); p.said("a") }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, session.Config{}, brokertest.Hooks{})
			p.online("b")
			p.run(exchange{"b", "82 07 00 01 00 00 01 'w' 00", "90 04 00 01 00 00"})
			c := will(tt.delay)
			c.KeepAlive = 60
			p.connect(c)
			tt.end(p)
			if tt.want {
				p.expect("b", "30 05 00 01 'w' 00 '!'")
			} else {
				p.expect("b", "")
			}
		})
	}
}

func TestSilentClientsAreCutOff(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{})
	p.connect(packet.Connect{ClientID: []byte("a"), KeepAlive: 10})
	p.dial("b")
	p.pass(9 * time.Second)
	p.links["b"].Tick()
	p.expect("b", "")
	p.pass(time.Second)
	p.links["b"].Tick()
	p.expect("b", "end") // no CONNECT within 10 s
	p.run(exchange{"a", "C0 00", "D0 00"})
	p.pass(14 * time.Second)
	p.links["a"].Tick()
	p.expect("a", "")
	p.pass(time.Second)
	p.links["a"].Tick()
	p.expect("a", "E0 … end")
}

func TestSessionsLastAsLongAsTheyShould(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{})
	present := func(c packet.Connect, want bool) {
		t.Helper()
		if got := p.connect(c); strings.HasPrefix(got, "20 02 01") || strings.HasPrefix(got, "20 0B 01") != want && strings.HasPrefix(got, "20 0B") {
			t.Errorf("CONNACK %s, session present: want %v", got, want)
		}
	}
	present(kept("a"), false)
	present(kept("a"), true) // taken over
	p.lose("a")
	p.pass(3599 * time.Second)
	present(kept("a"), true)
	p.lose("a")
	p.pass(3600 * time.Second)
	present(kept("a"), false)
	p.send("a", "E0 07 00 05 11 00 00 00 0A") // ten seconds after all
	p.expect("a", "end")
	p.pass(10 * time.Second)
	if p.broker.Sessions() != 0 {
		t.Errorf("%d sessions are left", p.broker.Sessions())
	}
	p.online("a")
	p.run(exchange{"a", "E0 07 00 05 11 00 00 00 0A", "E0 … end"}) // §3.14.2.2.2
	if p.broker.Sessions() != 0 {
		t.Errorf("%d sessions are left", p.broker.Sessions())
	}
	old := packet.Connect{Version: packet.V311, ClientID: []byte("o")}
	if got := p.connect(old); got != "20 02 00 00" {
		t.Errorf("CONNACK of 3.1.1 %s", got)
	}
	p.lose("o")
	p.pass(1000 * time.Hour)
	if got := p.connect(old); got != "20 02 01 00" {
		t.Errorf("CONNACK of 3.1.1 %s", got)
	}
	old.CleanStart = true
	if got := p.connect(old); got != "20 02 00 00" {
		t.Errorf("CONNACK of 3.1.1 %s", got)
	}
}

func TestATakenOverConnectionIsToldSo(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{})
	p.online("a")
	first := p.links["a"]
	p.online("a")
	p.links["first"] = first
	p.expect("first", "E0 01 8E end")
	p.run(exchange{"a", "C0 00", "D0 00"})
}

func TestSubscriptionOptions(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{})
	p.online("a", "b")
	p.run(
		exchange{"a", "31 07 00 03 'r/1' 00 'k'", ""},
		exchange{"b", "82 09 00 01 00 00 03 'r/#' 00", "90 04 00 01 00 00 31 07 00 03 'r/1' 00 'k'"}, // retained: always
		exchange{"b", "82 09 00 02 00 00 03 'r/#' 10", "90 04 00 02 00 00"},                          // if new: it is not
		exchange{"b", "82 09 00 03 00 00 03 'r/+' 10", "90 04 00 03 00 00 31 07 00 03 'r/1' 00 'k'"},
		exchange{"b", "82 09 00 04 00 00 03 'r/1' 20", "90 04 00 04 00 00"}, // never
		exchange{"b", "A2 12 00 05 00 00 03 'r/#' 00 03 'r/+' 00 03 'r/1'", "B0 06 00 05 00 00 00 00"},
		// Overlapping subscriptions: one copy, all identifiers, the highest QoS.
		exchange{"b", "82 0B 00 06 02 0B 05 00 03 's/#' 20", "90 04 00 06 00 00"},
		exchange{"b", "82 0C 00 07 03 0B 80 01 00 03 's/1' 21", "90 04 00 07 00 01"},
		exchange{"a", "32 09 00 03 's/1' 00 01 00 'm'", "40 02 00 01"},
		exchange{"b", "", "32 0E 00 03 's/1' 00 01 05 0B 80 01 0B 05 'm'"},
		exchange{"b", "40 02 00 01", ""},
		// No local.
		exchange{"a", "82 07 00 01 00 00 01 'l' 04", "90 04 00 01 00 00"},
		exchange{"a", "30 05 00 01 'l' 00 'm'", ""},
		exchange{"b", "30 05 00 01 'l' 00 'm'", ""},
		exchange{"a", "", "30 05 00 01 'l' 00 'm'"},
		// Retain as published.
		exchange{"b", "82 07 00 08 00 00 01 'p' 28", "90 04 00 08 00 00"},
		exchange{"a", "82 07 00 02 00 00 01 'p' 20", "90 04 00 02 00 00"},
		exchange{"a", "31 05 00 01 'p' 00 'm'", "30 05 00 01 'p' 00 'm'"},
		exchange{"b", "", "31 05 00 01 'p' 00 'm'"},
		// An empty retained message forgets.
		exchange{"a", "31 04 00 01 'p' 00", "30 04 00 01 'p' 00"},
		exchange{"b", "", "31 04 00 01 'p' 00"},
		exchange{"a", "82 07 00 03 00 00 01 'p' 00", "90 04 00 03 00 00"},
		// What is wrong with one filter is no matter of the others.
		exchange{"a", "82 0B 00 04 00 00 01 'q' 00 00 01 '#' 00", "90 05 00 04 00 00 00 31 07 00 03 'r/1' 00 'k'"},
		exchange{"a", "82 0C 00 05 00 00 02 'q#' 00 00 01 'q' 00", "90 05 00 05 00 8F 00"},
		exchange{"a", "82 10 00 06 00 00 0A '$share/g/x' 04", "E0 … end"}, // [MQTT-3.8.3-4]
	)
}

func TestSharedSubscriptionsGetEachMessageOnce(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{})
	p.online("a", "b", "c")
	for _, name := range []string{"b", "c"} {
		p.run(exchange{name, "82 10 00 01 00 00 0A '$share/g/x' 00", "90 04 00 01 00 00"})
	}
	b, c := 0, 0
	for range 10 {
		p.send("a", "30 05 00 01 'x' 00 'm'")
		if p.said("b") != "" {
			b++
		}
		if p.said("c") != "" {
			c++
		}
	}
	if b != 5 || c != 5 {
		t.Errorf("%d and %d messages, want 5 each", b, c)
	}
	p.lose("b")
	p.run(
		exchange{"a", "30 05 00 01 'x' 00 'm'", ""},
		exchange{"c", "", "30 05 00 01 'x' 00 'm'"},
	)
}

func TestAuthenticationInSteps(t *testing.T) {
	method := props().WithText(packet.AuthenticationMethod, "m")
	hooks := brokertest.Hooks{
		Connect: func(*packet.Connect) session.Answer {
			return session.Answer{Code: packet.ContinueAuthentication, Properties: method}
		},
		Auth: func(p *packet.Auth) session.Answer {
			if string(p.Properties.Bytes(packet.AuthenticationData)) == "ok" {
				return session.Answer{Properties: method}
			}
			return session.Answer{Code: packet.NotAuthorized}
		},
	}
	connect := "10 12 00 04 'MQTT' 05 02 00 00 04 15 00 01 'm' 00 01 'a'"
	p := newPlay(t, session.Config{}, hooks)
	p.dial("a")
	p.run(
		exchange{"a", connect, "F0 06 18 04 15 00 01 'm'"},
		exchange{"a", "F0 0B 18 09 15 00 01 'm' 16 00 02 'ok'", "20 0F 00 00 0C 21 00 64 27 00 10 00 00 15 00 01 'm'"},
		exchange{"a", "F0 0B 19 09 15 00 01 'm' 16 00 02 'ok'", "F0 06 00 04 15 00 01 'm'"}, // once more
		exchange{"a", "F0 0B 19 09 15 00 01 'm' 16 00 02 'no'", "E0 … end"},
	)
	p.dial("a")
	p.run(
		exchange{"a", connect, "F0 06 18 04 15 00 01 'm'"},
		exchange{"a", "F0 0B 18 09 15 00 01 'm' 16 00 02 'no'", "20 03 00 87 00 end"},
	)
	p.dial("a")
	p.run(
		exchange{"a", connect, "F0 06 18 04 15 00 01 'm'"},
		exchange{"a", "C0 00", "20 … end"}, // [MQTT-3.1.2-30]
	)
}

// A topic with very many levels would take a node of a tree for each, far more than its bytes.
func TestTheLevelsOfATopicAreBounded(t *testing.T) {
	p := newPlay(t, session.Config{}, brokertest.Hooks{})
	p.online("a")
	deep := strings.Repeat("/", 128)
	p.run(
		exchange{"a", "82 86 01 00 01 00 00 80 '" + deep + "' 00", "90 04 00 01 00 8F"},
		exchange{"a", "30 83 01 00 80 '" + deep + "' 00", "E0 … end"},
	)
	p.dial("b")
	p.run(exchange{"b", "10 81 80 40", "end"}) // 1 MiB and a byte
	// As many as fit into a topic.
	most := strings.Repeat("/", topic.MaxLength)
	p.online("c")
	p.run(
		exchange{"c", "82 85 80 04 00 01 00 FF FF '" + most + "' 00", "90 04 00 01 00 8F"},
		exchange{"c", "82 85 80 04 00 02 00 FF FF '" + strings.Repeat("+/", topic.MaxLength/2) + "#' 00", "90 04 00 02 00 8F"},
		exchange{"c", "A2 84 80 04 00 03 00 FF FF '" + most + "'", "B0 04 00 03 00 8F"},
		exchange{"c", "30 82 80 04 FF FF '" + most + "' 00", "E0 … end"},
	)
}

func TestRightsAreAnsweredForEachFilter(t *testing.T) {
	p := newPlay(t, session.Config{MaxSubscriptions: 1}, brokertest.Hooks{Subscribe: func(f topic.Filter) packet.Code {
		if f.Topic == "secret" {
			return packet.NotAuthorized
		}
		return packet.Success
	}})
	p.online("a")
	p.run(
		exchange{"a", "82 0C 00 01 00 00 06 'secret' 00", "90 04 00 01 00 87"},
		exchange{"a", "82 0B 00 02 00 00 01 'a' 00 00 01 'b' 00", "90 05 00 02 00 00 97"},
	)
}
