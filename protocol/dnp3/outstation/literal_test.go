package outstation

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
	"voltbus/protocol/dnp3/transport"
)

// said returns the fragments that the device wrote since it was last asked, one a line.
func (d *device) said(t *testing.T) []string {
	t.Helper()
	var parser link.Parser
	var joiner transport.Reassembler
	var room [link.MaxPayload]byte
	joiner.Lend(make([]byte, 0, station.FragmentSize))
	var said []string
	for wire := d.out.Wire(); ; {
		f, n, ok := parser.Next(wire, &room)
		if !ok {
			break
		}
		wire = wire[n:]
		if fragment, complete := joiner.Add(f.Payload); complete {
			said = append(said, strings.ToUpper(hex.EncodeToString(fragment)))
		}
	}
	d.out.Reset()
	return said
}

// step is a line of a conversation.
type step struct {
	// Exactly one of these happens …
	hear      string        // a request, in hexadecimal
	broadcast string        // a request to all
	after     time.Duration // time passes
	event     int           // an analog event, its value
	// … and this is said.
	say []string
}

func octets(t *testing.T, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// take plays a step.
func (d *device) take(t *testing.T, s step) {
	t.Helper()
	d.mux.Ports()[0].Tick(d.now, d.out)
	switch {
	case s.hear != "":
		d.s.Receive(d.now, station.Message{Octets: octets(t, s.hear), Source: 1}, d.out)
	case s.broadcast != "":
		d.s.Receive(d.now, station.Message{Octets: octets(t, s.broadcast), Source: 1, Broadcast: link.BroadcastConfirm}, d.out)
	case s.event != 0:
		d.o.Update(func(tx *Tx) {
			tx.Set(object.KindAnalogInput, object.Point{Value: object.Signed(int64(s.event)), Flags: object.FlagOnline}, Detect)
		})
	}
	d.now = d.now.Add(s.after)
	d.mux.Tick(d.now, d.out)
}

// say spells fragments without spaces.
func say(fragments ...string) []string {
	var all []string
	for _, f := range fragments {
		all = append(all, strings.ReplaceAll(f, " ", ""))
	}
	return all
}

// small is a database of an analog input, a binary output and a counter that freezes.
func small(c *Config, sc *SessionConfig) {
	c.Points = []PointConfig{
		{Kind: object.KindAnalogInput, Class: app.Class1, Event: object.G32V1, Initial: object.Signed(1)},
		{Kind: object.KindBinaryOutput, Initial: object.Bool(false)},
		{Kind: object.KindCounter, Initial: object.Unsigned(5)},
		{Kind: object.KindFrozenCounter, Class: app.Class2, Event: object.G23V1},
	}
	sc.Unsolicited = false
}

func reporting(c *Config, sc *SessionConfig) {
	small(c, sc)
	sc.Unsolicited = true
}

func TestConversationsWithAnOutstation(t *testing.T) {
	cases := []struct {
		name   string
		config func(c *Config, sc *SessionConfig)
		steps  []step
	}{
		{
			"after a start the restart indication is set until the master clears it (clause 4.2.2)", small,
			[]step{
				{hear: "C0 01 3C 02 06", say: say("C0 81 80 00")},
				{hear: "C1 02 50 01 00 07 07 00", say: say("C1 81 00 00")},
				{hear: "C2 01 3C 02 06", say: say("C2 81 00 00")},
			},
		},
		{
			"the restart indication can only be cleared, and no other one written", small,
			[]step{
				{hear: "C0 02 50 01 00 07 07 01", say: say("C0 81 80 04")},
				{hear: "C1 02 50 01 00 04 04 00", say: say("C1 81 80 04")},
			},
		},
		{
			"an integrity poll gives events first and asks for a confirmation, which forgets them", small,
			[]step{
				{event: 7},
				{hear: "C3 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06", say: say("E3 81 80 00" +
					"20 01 28 01 00 00 00 01 07 00 00 00" +
					"0A 02 00 00 00 02 14 01 00 00 00 02 05 00 00 00 15 01 00 00 00 02 00 00 00 00 1E 01 00 00 00 01 07 00 00 00")},
				{hear: "C3 00"},
				{hear: "C4 01 3C 02 06", say: say("C4 81 80 00")},
			},
		},
		{
			"events whose confirmation does not come are reported again", small,
			[]step{
				{event: 7},
				{hear: "C0 01 3C 02 06", say: say("E0 81 80 00 20 01 28 01 00 00 00 01 07 00 00 00")},
				{after: 6 * time.Second},
				{hear: "C1 01 3C 02 06", say: say("E1 81 80 00 20 01 28 01 00 00 00 01 07 00 00 00")},
			},
		},
		{
			"a confirmation with another sequence number confirms nothing", small,
			[]step{
				{event: 7},
				{hear: "C0 01 3C 02 06", say: say("E0 81 80 00 20 01 28 01 00 00 00 01 07 00 00 00")},
				{hear: "C1 00"},
				{hear: "C1 01 3C 03 06", say: say("C1 81 82 00")},
			},
		},
		{
			"a read of two events at most leaves the third and says so", small,
			[]step{
				{event: 7},
				{event: 8},
				{event: 9},
				{hear: "C0 01 3C 02 07 02", say: say("E0 81 82 00 20 01 28 02 00 00 00 01 07 00 00 00 00 00 01 08 00 00 00")},
				{hear: "C0 00"},
				{hear: "C1 01 20 02 06", say: say("E1 81 80 00 20 02 28 01 00 00 00 01 09 00")},
			},
		},
		{
			"a range, a list and all of a group can be read in the variation asked for", small,
			[]step{
				{hear: "C0 01 1E 02 00 00 00", say: say("C0 81 80 00 1E 02 00 00 00 02 01 00")},
				{hear: "C1 01 14 06 17 01 00", say: say("C1 81 80 00 14 02 00 00 00 02 05 00")},
				{hear: "C2 01 15 00 06", say: say("C2 81 80 00 15 01 00 00 00 02 00 00 00 00")},
			},
		},
		{
			"what does not exist is refused by an indication", small,
			[]step{
				{hear: "C0 01 1E 02 00 01 09", say: say("C0 81 80 04")},
				{hear: "C1 01 01 00 06", say: say("C1 81 80 02")},
				{hear: "C2 70", say: say("C2 81 80 01")},
				{hear: "C3 01 C8 01 06", say: say("C3 81 80 02")},
				{hear: "C4 01 1E 02", say: say("C4 81 80 04")},
				{hear: "C5 1F 46 08 5B 01 01 00 41", say: say("C5 81 80 01")},
			},
		},
		{
			"what is no single request is not answered", small,
			[]step{{hear: "80 01 3C 02 06"}, {hear: "40 01 3C 02 06"}, {hear: "E0 01 3C 02 06"}, {hear: "D0 01 3C 02 06"}, {hear: "C0 81 00 00"}, {hear: "C0"}},
		},
		{
			"a select and its operate carry a command out (clause 4.4)", small,
			[]step{
				{hear: "C0 03 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00", say: say("C0 81 80 00 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00")},
				{hear: "C1 04 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00", say: say("C1 81 80 00 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00")},
				{hear: "C2 01 0A 02 06", say: say("C2 81 80 00 0A 02 00 00 00 81")},
			},
		},
		{
			"an operate without a select, for something else, or not at once, is refused", small,
			[]step{
				{hear: "C0 04 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00", say: say("C0 81 80 00 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 02")},
				{hear: "C1 03 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00", say: say("C1 81 80 00 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00")},
				{hear: "C2 04 0C 01 17 01 00 04 01 00 00 00 00 00 00 00 00 00", say: say("C2 81 80 00 0C 01 17 01 00 04 01 00 00 00 00 00 00 00 00 02")},
				{hear: "C3 03 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00", say: say("C3 81 80 00 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00")},
				{hear: "C4 01 3C 02 06", say: say("C4 81 80 00")},
				{hear: "C5 04 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00", say: say("C5 81 80 00 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 02")},
			},
		},
		{
			"a select is good for ten seconds", small,
			[]step{
				{hear: "C0 03 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00", say: say("C0 81 80 00 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00")},
				{after: 10 * time.Second},
				{hear: "C1 04 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00", say: say("C1 81 80 00 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 01")},
			},
		},
		{
			"a command to a point that does not exist is refused by its status and an indication", small,
			[]step{{
				hear: "C0 03 0C 01 17 01 09 03 01 00 00 00 00 00 00 00 00 00",
				say:  say("C0 81 80 04 0C 01 17 01 09 03 01 00 00 00 00 00 00 00 00 04"),
			}},
		},
		{
			"a direct operate without an answer is carried out in silence", small,
			[]step{
				{hear: "C0 06 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00"},
				{hear: "C1 01 0A 02 06", say: say("C1 81 80 00 0A 02 00 00 00 81")},
			},
		},
		{
			"freezing copies a counter, and clearing makes it zero (FC 9)", small,
			[]step{
				{hear: "C0 09 14 00 06", say: say("C0 81 84 00")},
				{hear: "C1 01 14 05 06 15 09 06", say: say("C1 81 84 00 14 01 00 00 00 02 00 00 00 00 15 01 00 00 00 02 05 00 00 00")},
				{hear: "C2 01 3C 03 06", say: say("E2 81 80 00 17 01 28 01 00 00 00 02 05 00 00 00")},
			},
		},
		{
			"dead-bands are written, read, and hold back events", small,
			[]step{
				{hear: "C0 02 22 01 17 01 00 05 00", say: say("C0 81 80 00")},
				{hear: "C1 01 22 01 06", say: say("C1 81 80 00 22 01 00 00 00 05 00")},
				{event: 1},
				{hear: "C2 01 3C 02 06", say: say("E2 81 80 00 20 01 28 01 00 00 00 01 01 00 00 00")},
				{hear: "C2 00"},
				{event: 6},
				{hear: "C3 01 3C 02 06", say: say("C3 81 80 00")},
				{event: 7},
				{hear: "C4 01 3C 02 06", say: say("E4 81 80 00 20 01 28 01 00 00 00 01 07 00 00 00")},
			},
		},
		{
			"assigning class 3 moves the events of a point (FC 22)", small,
			[]step{
				{hear: "C0 16 3C 04 06 1E 00 06", say: say("C0 81 80 00")},
				{event: 7},
				{hear: "C1 01 3C 02 06", say: say("C1 81 88 00")},
			},
		},
		{
			"delay is measured, the time recorded and written", small,
			[]step{
				{hear: "C0 17", say: say("C0 81 80 00 34 02 07 01 00 00")},
				{hear: "C1 18", say: say("C1 81 80 00")},
				{hear: "C2 02 32 03 07 01 00 00 00 00 00 00", say: say("C2 81 80 00")},
				{hear: "C3 02 32 03 07 01 00 00 00 00 00 00", say: say("C3 81 80 04")},
			},
		},
		{
			"a time recorded before the clock jumped back is not set", small,
			[]step{
				{hear: "C1 18", say: say("C1 81 80 00"), after: -time.Hour},
				{hear: "C2 02 32 03 07 01 00 00 00 00 00 00", say: say("C2 81 80 04")},
				{hear: "C3 18", say: say("C3 81 80 00")},
				{hear: "C4 02 32 03 07 01 00 00 00 00 00 00", say: say("C4 81 80 00")},
			},
		},
		{
			"a restart answers how long it takes (FC 13)", small,
			[]step{{hear: "C0 0D", say: say("C0 81 80 00 34 02 07 01 E8 03")}},
		},
		{
			"a repeated request is answered again and not carried out again", small,
			[]step{
				{hear: "C0 0A 14 00 06"},
				{hear: "C0 0A 14 00 06"},
				{hear: "C1 01 3C 03 06", say: say("E1 81 80 00 17 01 28 01 00 00 00 02 05 00 00 00")},
				{hear: "C1 01 3C 03 06", say: say("E1 81 80 00 17 01 28 01 00 00 00 02 05 00 00 00")},
			},
		},
		{
			"a broadcast is not answered, and the next answer tells of it until confirmed", small,
			[]step{
				{broadcast: "C0 0A 14 00 06"},
				{hear: "C1 01 14 06 06", say: say("E1 81 85 00 14 02 00 00 00 02 00 00")},
				{hear: "C1 00"},
				{hear: "C2 01 14 06 06", say: say("C2 81 84 00 14 02 00 00 00 02 00 00")},
			},
		},
		{
			"reading any variation of events gives no current values", small,
			[]step{
				{hear: "C0 01 20 00 06", say: say("C0 81 80 00")},
				{event: 7},
				{hear: "C1 01 20 00 06", say: say("E1 81 80 00 20 01 28 01 00 00 00 01 07 00 00 00")},
			},
		},
		{
			"a pattern is carried out for the points of its mask (Annex A, g12v2 and g12v3)", small,
			[]step{
				{
					hear: "C0 05 0C 02 07 01 03 01 00 00 00 00 00 00 00 00 00 0C 03 00 00 02 01",
					say:  say("C0 81 80 00 0C 02 07 01 03 01 00 00 00 00 00 00 00 00 00 0C 03 00 00 02 01"),
				},
				{hear: "C1 01 0A 02 06", say: say("C1 81 80 00 0A 02 00 00 00 81")},
			},
		},
		{
			"a pattern takes the status of the first point that refuses", small,
			[]step{{
				hear: "C0 03 0C 02 07 01 03 01 00 00 00 00 00 00 00 00 00 0C 03 00 00 02 07",
				say:  say("C0 81 80 04 0C 02 07 01 03 01 00 00 00 00 00 00 00 00 04 0C 03 00 00 02 07"),
			}},
		},
		{
			"a pattern without a mask, a mask without a pattern and a pattern for two are refused", small,
			[]step{
				{hear: "C0 05 0C 02 07 01 03 01 00 00 00 00 00 00 00 00 00", say: say("C0 81 80 04")},
				{hear: "C1 05 0C 03 00 00 02 01", say: say("C1 81 80 04")},
				{
					hear: "C2 05 0C 02 07 02 03 01 00 00 00 00 00 00 00 00 00 03 01 00 00 00 00 00 00 00 00 00 0C 03 00 00 02 01",
					say:  say("C2 81 80 04"),
				},
				{hear: "C3 01 0A 02 06", say: say("C3 81 80 00 0A 02 00 00 00 02")},
			},
		},
		{
			"a command is reported as an event with its status (g13)",
			func(c *Config, sc *SessionConfig) {
				small(c, sc)
				c.Points[1].CommandClass, c.Points[1].CommandEvent = app.Class3, object.G13V1
			},
			[]step{
				{hear: "C0 05 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00", say: say("C0 81 88 00 0C 01 17 01 00 03 01 00 00 00 00 00 00 00 00 00")},
				{hear: "C1 01 3C 04 06", say: say("E1 81 80 00 0D 01 28 01 00 00 00 80")},
				{hear: "C1 00"},
				{hear: "C2 01 0D 00 06", say: say("C2 81 80 00")},
				{hear: "C3 01 3C 01 06", say: say("C3 81 80 00 0A 02 00 00 00 81 14 01 00 00 00 02 05 00 00 00 15 01 00 00 00 02 00 00 00 00 1E 01 00 00 00 02 01 00 00 00")},
			},
		},
		{
			"a configuration is activated by the name of its file (FC 31)",
			func(c *Config, sc *SessionConfig) {
				small(c, sc)
				c.Callbacks.Activate = func(name string) (time.Duration, uint8) {
					if name == "A" {
						return 2 * time.Second, 0
					}
					return 0, 1
				}
			},
			[]step{
				{
					hear: "C0 1F 46 08 5B 01 01 00 41 46 08 5B 01 01 00 42",
					say:  say("C0 81 80 00 5B 01 5B 01 06 00 D0 07 00 00 00 01"),
				},
				{hear: "C1 1F", say: say("C1 81 80 04")},
				{hear: "C2 1F 3C 02 06", say: say("C2 81 80 04")},
			},
		},
		{
			"a string that was never set is one zero octet, as variation 0 has no place in an answer",
			func(c *Config, sc *SessionConfig) {
				small(c, sc)
				c.Points = []PointConfig{{Kind: object.KindOctetString}}
			},
			[]step{{hear: "C0 01 6E 00 06", say: say("C0 81 80 00 6E 01 00 00 00 00")}},
		},
		{
			"where empty strings are allowed it is empty",
			func(c *Config, sc *SessionConfig) {
				small(c, sc)
				c.Points, c.EmptyStrings = []PointConfig{{Kind: object.KindOctetString}}, true
			},
			[]step{{hear: "C0 01 6E 00 06", say: say("C0 81 80 00 6E 00 00 00 00")}},
		},
		{
			"without files their functions are refused", small,
			[]step{
				{hear: "C0 1A 46 04 5B 01 0D 00 01 00 00 00 00 00 00 00 00 00 00 00 00", say: say("C0 81 80 01")},
				{hear: "C1 01 46 05 5B 01 08 00 01 00 00 00 00 00 00 00", say: say("C1 81 80 02")},
			},
		},
		{
			"without unsolicited reports enabling them is refused", small,
			[]step{{hear: "C0 14 3C 02 06", say: say("C0 81 80 01")}},
		},
		{
			"an empty report begins, events follow once they are enabled, unconfirmed ones are repeated", reporting,
			[]step{
				{after: time.Millisecond, say: say("F0 82 80 00")},
				{after: 5 * time.Second, say: say("F0 82 80 00")},
				{hear: "D0 00"},
				{event: 7},
				{hear: "C0 14 3C 02 06", say: say("C0 81 82 00", "F1 82 80 00 20 01 28 01 00 00 00 01 07 00 00 00")},
				{after: 5 * time.Second, say: say("F1 82 80 00 20 01 28 01 00 00 00 01 07 00 00 00")},
				{hear: "D1 00"},
				{event: 8, say: say("F2 82 80 00 20 01 28 01 00 00 00 01 08 00 00 00")},
			},
		},
		{
			"an answer that is no read also tells of a broadcast until it is confirmed", small,
			[]step{
				{broadcast: "C0 02 50 01 00 07 07 00"},
				{hear: "C1 18", say: say("E1 81 01 00")},
				{hear: "C2 18", say: say("E2 81 01 00")},
				{hear: "C2 00"},
				{hear: "C3 18", say: say("C3 81 00 00")},
			},
		},
		{
			"a report is given up after its repetitions and made anew after a pause",
			func(c *Config, sc *SessionConfig) {
				reporting(c, sc)
				sc.Retries = 1
			},
			[]step{
				{after: time.Millisecond, say: say("F0 82 80 00")},
				{after: 5 * time.Second, say: say("F0 82 80 00")},
				{after: 5 * time.Second},
				{after: 5 * time.Second, say: say("F1 82 80 00")},
			},
		},
		{
			"a read of several fragments goes on with each confirmation",
			func(c *Config, sc *SessionConfig) {
				small(c, sc)
				c.Points = nil
				for i := range uint32(1000) {
					c.Points = append(c.Points, PointConfig{Kind: object.KindAnalogInput, Index: i, Static: object.G30V3, Initial: object.Signed(0)})
				}
			},
			[]step{
				{hear: "C0 01 1E 03 06", say: say("A0 81 80 00 1E 01 00 00 FF" + strings.Repeat("0200000000", 256) + "1E 01 01 00 01 95 01" + strings.Repeat("0200000000", 150))},
				{hear: "C1 00"},
				{hear: "C0 01 1E 03 06", say: say("A0 81 80 00 1E 01 00 00 FF" + strings.Repeat("0200000000", 256) + "1E 01 01 00 01 95 01" + strings.Repeat("0200000000", 150))},
				{hear: "C0 00", say: say("21 81 80 00 1E 01 01 96 01 2C 03" + strings.Repeat("0200000000", 407))},
				{hear: "C1 00", say: say("42 81 80 00 1E 01 01 2D 03 E7 03" + strings.Repeat("0200000000", 187))},
				{hear: "C2 00"},
			},
		},
		{
			"a read waits for the confirmation of a report, other requests do not", reporting,
			[]step{
				{after: time.Millisecond, say: say("F0 82 80 00")},
				{hear: "C0 01 14 06 06"},
				{hear: "D0 00", say: say("C0 81 80 00 14 02 00 00 00 02 05 00")},
				{hear: "C1 14 3C 02 06", say: say("C1 81 80 00")},
				{event: 7, say: say("F1 82 80 00 20 01 28 01 00 00 00 01 07 00 00 00")},
				{hear: "C2 02 50 01 00 07 07 00", say: say("C2 81 00 00")},
				{hear: "C3 15 3C 02 06", say: say("C3 81 02 00")},
				{hear: "C4 01 3C 02 06", say: say("E4 81 00 00 20 01 28 01 00 00 00 01 07 00 00 00")},
			},
		},
		{
			"a confirmation that crosses a request to disable reports counts, but not for what came or was sent since", reporting,
			[]step{
				{after: time.Millisecond, say: say("F0 82 80 00")},
				{hear: "D0 00"},
				{hear: "C1 14 3C 02 06", say: say("C1 81 80 00")},
				{event: 7, say: say("F1 82 80 00 20 01 28 01 00 00 00 01 07 00 00 00")},
				{hear: "C2 15 3C 02 06", say: say("C2 81 82 00")},
				{event: 8},
				{hear: "D1 00"},
				{hear: "C3 01 3C 02 06", say: say("E3 81 80 00 20 01 28 01 00 00 00 01 08 00 00 00")},
				{hear: "D1 00"},
				{hear: "C4 01 3C 02 06", say: say("E4 81 80 00 20 01 28 01 00 00 00 01 08 00 00 00")},
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newDevice(t, c.config)
			d.mux.Open(d.now, d.out)
			for i, s := range c.steps {
				d.take(t, s)
				if diff := cmp.Diff(s.say, d.said(t)); diff != "" {
					t.Fatalf("step %d, %+v: %s", i, s, diff)
				}
			}
		})
	}
}
