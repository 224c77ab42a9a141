package session

import (
	"maps"
	"slices"
	"testing"
	"time"

	"voltbus/protocol/mqtt/packet"
)

// deaf is a broker that lets everybody in and does nothing.
type deaf struct {
	Broker
	table *Table
	now   time.Time
}

func (d *deaf) Connect(*Conn, *packet.Connect) Answer { return Answer{} }

func (d *deaf) Open(_ *Conn, id string, clean bool) (*Session, bool) {
	s, present, _ := d.table.Open(d.now, id, clean)
	return s, present
}

func (d *deaf) Ended(*Session)          {}
func (d *deaf) Will(*Session, *Message) {}

func TestAClientThatComesAndGoesIsDueOnce(t *testing.T) {
	config := &Config{}
	d := &deaf{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	d.table = NewTable(config, d)
	for i := range uint32(1000) {
		connect := packet.Connect{
			Version: packet.V5, ClientID: []byte("a"), Properties: packet.Properties(nil).WithUint(packet.SessionExpiry, 3600-i),
			Will: &packet.Will{Topic: []byte("w"), Properties: packet.Properties(nil).WithUint(packet.WillDelay, 1+i%7)},
		}
		wire, err := connect.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		c := NewConn(d.now, config, d)
		if _, err := c.Receive(d.now, wire, nil); err != nil {
			t.Fatal(err)
		}
		if n := len(d.table.due); n != 0 {
			t.Fatalf("%d sessions are due while the client is there", n)
		}
		d.table.Close(d.now, c)
		if n := len(d.table.due); n != 1 {
			t.Fatalf("%d sessions are due after %d connections", n, i+1)
		}
		d.now = d.now.Add(2 * time.Second)
		d.table.Tick(d.now)
	}
	d.table.Tick(d.now.Add(time.Hour))
	if d.table.Len() != 0 || len(d.table.due) != 0 || !d.table.Deadline().IsZero() {
		t.Errorf("%d sessions are left, %d are due", d.table.Len(), len(d.table.due))
	}
}

func TestASessionIsRestoredOnce(t *testing.T) {
	d := &deaf{}
	d.table = NewTable(&Config{}, d)
	state := (&Session{id: "a", expiry: 10}).AppendState(nil)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := d.table.Restore(now, state); err != nil {
		t.Fatal(err)
	}
	if _, err := d.table.Restore(now, state); err == nil || err.Error() != `session "a" is there already` {
		t.Error(err)
	}
	d.table.Tick(now.Add(10 * time.Second))
	if d.table.Len() != 0 {
		t.Error("a restored session does not end")
	}
}

// Who reads the state that is written together with a message has the message: its identifier must be in that state, although nobody
// has been answered yet.
func TestTheStateThatIsWrittenWithAMessageKnowsIt(t *testing.T) {
	s := &Session{id: "a", expiry: 10}
	one, two, three := s.expect(7, 2), s.expect(8, 1), s.expect(9, 2)
	if !Pledge(s, one) || Pledge(s, two) || Pledge(s, three+1) {
		t.Error("only the messages with QoS 2 have to be known")
	}
	known := func() (list []uint16) {
		d := &deaf{}
		d.table = NewTable(&Config{}, d)
		r, err := d.table.Restore(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), s.AppendState(nil))
		if err != nil {
			t.Fatal(err)
		}
		return slices.Sorted(maps.Keys(r.received))
	}
	if got := known(); !slices.Equal(got, []uint16{7}) {
		t.Errorf("the state knows %v, want 7 alone: 9 is not written with it", got)
	}
	if _, err := s.Commit(one, packet.QuotaExceeded, nil); err != nil { // it could not be written
		t.Fatal(err)
	}
	if got := known(); len(got) > 0 {
		t.Errorf("the state knows %v, which was refused", got)
	}
}
