package session_test

import (
	"testing"
	"time"

	"voltbus/protocol/mqtt/brokertest"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// The clock is set while a client with a session of a minute and a will after ten seconds is away. Set back, nothing ends early; set
// forward, everything that is due then ends once.
func TestAClockThatJumpsEndsASessionOnceAndNotTooEarly(t *testing.T) {
	for name, c := range map[string]struct {
		jumps []time.Duration
		will  string // what the subscriber gets
		there bool   // the session, when the client is back
	}{
		"back by a day":               {[]time.Duration{-24 * time.Hour}, "", true},
		"forward by a day":            {[]time.Duration{24 * time.Hour}, "30 05 00 01 'w' 00 '!'", false},
		"forward by half a minute":    {[]time.Duration{30 * time.Second}, "30 05 00 01 'w' 00 '!'", true},
		"forward by a day, then back": {[]time.Duration{24 * time.Hour, -24 * time.Hour, 24 * time.Hour}, "30 05 00 01 'w' 00 '!'", false},
		"back and forward again":      {[]time.Duration{-24 * time.Hour, 24 * time.Hour}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, session.Config{}, brokertest.Hooks{})
			p.online("b")
			p.run(exchange{"b", "82 07 00 01 00 00 01 'w' 00", "90 04 00 01 00 00"})
			a := packet.Connect{
				ClientID: []byte("a"), Properties: props().WithUint(packet.SessionExpiry, 60),
				Will: &packet.Will{Topic: []byte("w"), Payload: []byte("!"), Properties: props().WithUint(packet.WillDelay, 10)},
			}
			p.connect(a)
			p.lose("a")
			for _, jump := range c.jumps {
				p.pass(jump)
			}
			p.expect("b", c.will)
			a.Will = nil
			if got := p.connect(a); (got[6:8] == "01") != c.there {
				t.Errorf("the client is answered %s; session there: %v", got, c.there)
			}
			p.expect("b", "")
		})
	}
}
