package outstation

import (
	"testing"
	"testing/fstest"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/database"
	"voltbus/protocol/dnp3/outstation/filetransfer"
	"voltbus/protocol/dnp3/station"
)

// device is an outstation with a few points of all kinds and a master's end to play.
type device struct {
	o    *Outstation
	s    *Session
	mux  station.Mux
	out  *station.Output
	pool *station.Pool
	now  time.Time
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func newDevice(tb testing.TB, change func(c *Config, sc *SessionConfig)) *device {
	tb.Helper()
	c := Config{
		Attributes: map[uint8]object.Attribute{252: {Type: object.AttributeText, Data: []byte("maker")}},
		Callbacks: Callbacks{
			Operate: func(tx *Tx, c Command) object.Status {
				tx.Set(object.KindBinaryOutput, object.Point{
					Index: c.Index, Value: object.Bool(c.CROB.Code == object.OpLatchOn), Flags: object.FlagOnline,
				}, Detect)
				return object.StatusSuccess
			},
			SetTime:        func(time.Time) bool { return true },
			Restart:        func(bool) (time.Duration, bool) { return time.Second, true },
			WriteAttribute: func(uint8, uint8, object.Attribute) bool { return true },
			WriteInteger: func(tx *Tx, i uint32, v uint8) bool {
				return tx.Set(object.KindInteger, object.Point{Index: i, Value: object.Unsigned(uint64(v))}, Detect)
			},
			WriteTime:   func(tx *Tx, i uint32, t object.IndexedTime) bool { return tx.SetTime(i, t) },
			WriteString: func(tx *Tx, i uint32, text []byte) bool { return tx.SetString(i, text, Detect) },
		},
	}
	for s := range database.Values {
		for i := range uint32(3) {
			p := PointConfig{Kind: database.TraitsOf(s).Kind, Index: i}
			if database.TraitsOf(s).Event != 0 {
				p.Class = app.Class1 << i
			}
			c.Points = append(c.Points, p)
		}
	}
	sc := SessionConfig{Master: 1, Unsolicited: true}
	if change != nil {
		change(&c, &sc)
	}
	d := &device{pool: station.NewPool(0), now: noon}
	var err error
	if d.o, err = New(c); err != nil {
		tb.Fatal(err)
	}
	if d.s, err = d.o.Session(sc); err != nil {
		tb.Fatal(err)
	}
	port, err := station.NewPort(station.Config{Local: 10, Remote: 1, SelfAddress: true}, d.s)
	if err != nil {
		tb.Fatal(err)
	}
	if err := d.mux.Add(port); err != nil {
		tb.Fatal(err)
	}
	d.out = d.pool.Output()
	return d
}

// everything turns on what a master can reach beside points.
func everything(c *Config, _ *SessionConfig) {
	c.Files = filetransfer.Service{
		Files:        fstest.MapFS{"a": {Data: []byte("content")}, "sub/b": {Data: make([]byte, 3000)}},
		Authenticate: func(user, _ string) bool { return user != "" },
	}
	c.Callbacks.Activate = func(name string) (time.Duration, uint8) { return time.Second, uint8(len(name)) }
	for i := range c.Points {
		if database.CommandSlot(database.SlotOf(c.Points[i].Kind)) != database.Slots {
			c.Points[i].CommandClass = app.Class2
		}
	}
}

// event makes an event.
func (d *device) event(n int) {
	d.o.Update(func(tx *Tx) {
		tx.Set(object.KindAnalogInput, object.Point{
			Index: uint32(n % 3), Value: object.Signed(int64(n)), Flags: object.FlagOnline, Time: object.TimestampOf(d.now),
		}, Force)
		tx.SetString(0, []byte("text"), Force)
	})
}

// play does what the fuzzer wants next and returns the rest of its script.
func (d *device) play(script []byte) []byte {
	op, n := script[0], min(int(script[1]), len(script)-2)
	data, rest := script[2:2+n], script[2+n:]
	message := station.Message{Source: 1}
	switch op % 8 {
	case 0, 1, 2: // a request with a head that fits
		message.Octets = append([]byte{byte(app.Sequence(op >> 4).Single()), op & 31}, data...)
	case 3:
		if len(data) > 0 {
			message.Octets = append([]byte{byte(app.Sequence(op >> 4).Single())}, data...)
		}
	case 4:
		message.Octets = append([]byte{byte(d.s.solicited.response.sequence.Single()), 0}, data...)
	case 5:
		message.Octets = []byte{byte(d.s.unsolicited.sequence.Single() | app.UNS), 0}
	case 6:
		d.now = d.now.Add(time.Duration(n) * time.Second)
		d.event(n)
	case 7:
		if n%2 == 0 {
			d.mux.Close(d.now, d.pool)
			d.mux.Open(d.now, d.out)
		}
		message.Broadcast = link.BroadcastConfirm
		message.Octets = append([]byte{0xC0}, data...)
	}
	if message.Octets != nil {
		d.out.Reset()
		d.mux.Tick(d.now, d.out)
		d.s.Receive(d.now, message, d.out)
	}
	d.mux.Tick(d.now, d.out)
	d.out.Reset()
	return rest
}

func FuzzOutstationSurvivesHostileMasters(f *testing.F) {
	f.Add([]byte("\x01\x03\x3c\x01\x06\x06\x01.\x10\x03\x3c\x02\x06\x04\x00\x05\x00"))
	f.Add([]byte("\x03\x12\x03\x0c\x01\x28\x01\x00\x01\x00\x03\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x03\x0c\x0b\x32\x02\x07\x01\x00\x00\x00\x00\x00\x00\x01\x00\x14\x00\x06\x06\x09........."))
	f.Fuzz(func(t *testing.T, script []byte) {
		d := newDevice(t, everything)
		d.mux.Open(d.now, d.out)
		for n := 0; len(script) >= 2 && n < 200; n++ {
			script = d.play(script)
			if due := d.mux.Deadline(); station.Due(due, d.now) {
				t.Fatalf("the deadline %v stays due at %v", due, d.now)
			}
			d.check(t)
		}
	})
}

// check compares the counts of the event buffers with what is in them.
func (d *device) check(t *testing.T) {
	t.Helper()
	if err := d.s.events.Check(); err != nil {
		t.Fatal(err)
	}
	if outstanding := d.s.solicited.response.buffer != nil || d.s.unsolicited.buffer != nil; d.s.events.Sent() > 0 && !outstanding {
		t.Fatalf("%d events are sent and nothing waits for a confirmation", d.s.events.Sent())
	}
}
