package outstation

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/attribute"
)

// quiet is a database of two integers and a repeating time, and of two sets of attributes.
func quiet(c *Config, sc *SessionConfig) {
	sc.Unsolicited = false
	c.Points = []PointConfig{
		{Kind: object.KindInteger, Initial: object.Unsigned(7)},
		{Kind: object.KindInteger, Index: 1, Initial: object.Unsigned(255)},
		{Kind: object.KindTime, Index: 2},
		{Kind: object.KindAnalogInput, Initial: object.Signed(1), Class: app.Class1},
	}
	c.Attributes = map[uint8]object.Attribute{252: {Type: object.AttributeText, Data: []byte("M")}}
	c.PrivateAttributes = map[uint8]map[uint8]object.Attribute{
		3: {1: {Type: object.AttributeUnsigned, Data: []byte{9}}, 252: {Type: object.AttributeText, Data: []byte("P")}},
	}
	c.Callbacks.WriteAttribute = func(_, number uint8, _ object.Attribute) bool { return number != 252 }
}

// readOnly is quiet, and nothing can be written.
func readOnly(c *Config, sc *SessionConfig) {
	quiet(c, sc)
	c.Callbacks = Callbacks{}
}

func TestConversationsAboutObjectsWithoutEvents(t *testing.T) {
	cases := []struct {
		name   string
		config func(c *Config, sc *SessionConfig)
		steps  []step
	}{
		{
			"integers and repeating times are current values (Annex A, g102v1 and g50v4)", quiet,
			[]step{
				{hear: "C0 01 66 00 06", say: say("C0 81 80 00 66 01 00 00 01 07 FF")},
				{hear: "C1 01 32 04 06", say: say("C1 81 80 00 32 04 00 02 02 00 00 00 00 00 00 00 00 00 00 00")},
				{hear: "C2 01 3C 01 06", say: say("C2 81 80 00 1E 01 00 00 00 02 01 00 00 00 66 01 00 00 01 07 FF 32 04 00 02 02 00 00 00 00 00 00 00 00 00 00 00")},
				{hear: "C3 01 32 04 00 00 01", say: say("C3 81 80 04")},
			},
		},
		{
			"integers and repeating times are written where the application takes them", quiet,
			[]step{
				{hear: "C0 02 66 01 17 01 01 2A", say: say("C0 81 80 00")},
				{hear: "C1 01 66 01 00 01 01", say: say("C1 81 80 00 66 01 00 01 01 2A")},
				{hear: "C2 02 32 04 17 01 02 01 02 03 04 05 00 0A 00 00 00 03", say: say("C2 81 80 00")},
				{hear: "C3 01 32 04 00 02 02", say: say("C3 81 80 00 32 04 00 02 02 01 02 03 04 05 00 0A 00 00 00 03")},
				{hear: "C4 02 66 01 17 01 09 2A", say: say("C4 81 80 04")},
				{hear: "C5 02 32 04 17 01 00 01 02 03 04 05 00 0A 00 00 00 03", say: say("C5 81 80 04")},
			},
		},
		{
			"without an application that takes them they are refused", readOnly,
			[]step{
				{hear: "C0 02 66 01 17 01 01 2A", say: say("C0 81 80 02")},
				{hear: "C1 02 32 04 17 01 02 01 02 03 04 05 00 0A 00 00 00 03", say: say("C1 81 80 02")},
				{hear: "C2 02 00 01 00 03 03 02 01 08", say: say("C2 81 80 04")},
			},
		},
		{
			"they have no events, so that they can be in no event class (FC 22)", quiet,
			[]step{
				{hear: "C0 16 3C 02 06 66 00 06", say: say("C0 81 80 04")},
				{hear: "C1 16 3C 01 06 66 00 06", say: say("C1 81 80 00")},
			},
		},
		{
			"attributes are read by their number in one set, in a range of sets, in a list of sets and in all", quiet,
			[]step{
				{hear: "C0 01 00 FC 00 00 00", say: say("C0 81 80 00 00 FC 00 00 00 01 01 4D")},
				{hear: "C1 01 00 FC 00 00 FF", say: say("C1 81 80 00 00 FC 00 00 00 01 01 4D 00 FC 00 03 03 01 01 50")},
				{hear: "C2 01 00 FC 17 01 03", say: say("C2 81 80 00 00 FC 00 03 03 01 01 50")},
				{hear: "C3 01 00 01 06", say: say("C3 81 80 00 00 01 00 03 03 02 01 09")},
				{hear: "C4 01 00 01 00 00 00", say: say("C4 81 80 02")},
				{hear: "C5 01 00 01 00 04 08", say: say("C5 81 80 02")},
			},
		},
		{
			"all attributes of a set and the list of them are answered", quiet,
			[]step{
				{hear: "C0 01 00 FE 00 03 03", say: say("C0 81 80 00 00 01 00 03 03 02 01 09 00 FC 00 03 03 01 01 50")},
				{hear: "C1 01 00 FF 00 03 03", say: say("C1 81 80 00 00 FF 00 03 03 FE 04 01 01 FC 01")},
			},
		},
		{
			"attributes are written, and refused where the application does not take them", quiet,
			[]step{
				{hear: "C0 02 00 01 00 03 03 02 01 08", say: say("C0 81 80 00")},
				{hear: "C1 01 00 01 00 03 03", say: say("C1 81 80 00 00 01 00 03 03 02 01 08")},
				{hear: "C2 02 00 FC 00 03 03 01 01 51", say: say("C2 81 80 04")},
				{hear: "C3 02 00 02 00 03 03 02 01 08", say: say("C3 81 80 04")},
				{hear: "C4 02 00 01 01 03 01 03 01 02 01 08", say: say("C4 81 80 04")},
			},
		},
		{
			"dead-bands are written all or none, in each of their sizes", quiet,
			[]step{
				{hear: "C0 02 22 01 17 02 00 05 00 09 05 00", say: say("C0 81 80 04")},
				{hear: "C1 01 22 02 06", say: say("C1 81 80 00 22 02 00 00 00 00 00 00 00")},
				{hear: "C2 02 22 02 00 00 00 00 00 01 00", say: say("C2 81 80 00")},
				{hear: "C3 01 22 00 06", say: say("C3 81 80 00 22 03 00 00 00 00 00 80 47")},
				{hear: "C4 02 22 03 17 01 00 00 00 C0 3F", say: say("C4 81 80 00")},
				{hear: "C5 01 22 03 00 00 00", say: say("C5 81 80 00 22 03 00 00 00 00 00 C0 3F")},
				{hear: "C6 02 22 03 17 01 00 00 00 80 BF", say: say("C6 81 80 04")},
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

func TestTheApplicationReadsBackARepeatingTime(t *testing.T) {
	d := newDevice(t, quiet)
	want := object.IndexedTime{Start: object.TimestampOf(noon), Interval: 15, Unit: object.IntervalMinutes}
	d.o.Update(func(tx *Tx) {
		if !tx.SetTime(2, want) || tx.SetTime(0, want) {
			t.Error("a time that is there cannot be set, or one that is not can")
		}
		if got, ok := tx.Time(2); !ok || got != want {
			t.Errorf("got %+v", got)
		}
		if _, ok := tx.Time(0); ok {
			t.Error("a time that is not there was found")
		}
		over := object.IndexedTime{Start: object.Timestamp{Milliseconds: object.MaxMilliseconds + 1}}
		if tx.SetTime(2, over) {
			t.Error("a time beyond 48 bits was taken")
		}
	})
}

func TestConfigurationsOfObjectsWithoutEventsAreRefused(t *testing.T) {
	long := object.Attribute{Type: object.AttributeText, Data: make([]byte, 256)}
	cases := map[string]struct {
		config Config
		want   error
	}{
		"an integer in a class":           {Config{Points: []PointConfig{{Kind: object.KindInteger, Class: app.Class1}}}, errStatic},
		"a time with an event variation":  {Config{Points: []PointConfig{{Kind: object.KindTime, Event: object.G50V4}}}, errStatic},
		"a time in another variation":     {Config{Points: []PointConfig{{Kind: object.KindTime, Static: object.G50V1}}}, errVariation},
		"an event limit for integers":     {Config{EventLimits: map[object.Kind]int{object.KindInteger: 5}}, errStatic},
		"an attribute that asks for all":  {Config{Attributes: map[uint8]object.Attribute{254: {}}}, attribute.ErrNumber},
		"an attribute without a number":   {Config{PrivateAttributes: map[uint8]map[uint8]object.Attribute{1: {0: {}}}}, attribute.ErrNumber},
		"an attribute that is too long":   {Config{Attributes: map[uint8]object.Attribute{252: long}}, object.ErrValue},
		"the set of the standard twice":   {Config{PrivateAttributes: map[uint8]map[uint8]object.Attribute{0: {}}}, attribute.ErrSet},
		"one integer twice at its index":  {Config{Points: []PointConfig{{Kind: object.KindInteger}, {Kind: object.KindInteger}}}, errIndex},
		"a select time-out that is below": {Config{SelectTimeout: -time.Second}, errNegative},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := New(c.config); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
