package bus_test

import (
	"regexp"
	"testing"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/identity"
)

func TestWhoComesAndEndsIsToldWithTheReason(t *testing.T) {
	h := openHall(t, bus.Limits{Subscriptions: 10})
	h.add(t, "boiler", identity.Grants{})
	for _, c := range []struct {
		name, why string
		end       func(v *visitor)
	}{
		{"ended by itself", "it was ended there, or cut on the way", func(v *visitor) { v.Close() }},
		{"dropped", "of a whim", func(*visitor) { h.Drop(h.keys["boiler"].public, "of a whim") }},
		{"with too many subscriptions", `it has (1[1-9]|20) subscriptions, and may have 10`, func(v *visitor) {
			for range 20 {
				if _, err := v.SubscribeSync("news.boiler.x"); err != nil {
					return // it was cut off meanwhile
				}
			}
		}},
	} {
		v := h.enter(t, "boiler", nats.NoReconnect())
		came := <-h.passed
		if came.Name != "boiler" || came.Key != h.keys["boiler"].public || came.Address == "" || came.Since.IsZero() || came.Ended != "" {
			t.Errorf("%s: %+v came", c.name, came)
		}
		c.end(v)
		ended := <-h.passed
		if !regexp.MustCompile("^"+c.why+"$").MatchString(ended.Ended) || ended.Address != came.Address {
			t.Errorf("%s: %+v ended, want %q", c.name, ended, c.why)
		}
		<-v.closed
	}
}

func TestASecondConnectionOfANameNeitherComesNorEnds(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "boiler", identity.Grants{})
	first := h.enter(t, "boiler")
	<-h.passed
	second := h.enter(t, "boiler", nats.NoReconnect())
	<-second.closed
	first.Close()
	if p := <-h.passed; p.Ended == "" || p.Address == "" || len(h.passed) != 0 {
		t.Errorf("%+v passed", p)
	}
}
