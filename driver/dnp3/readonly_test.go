package dnp3

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/object"
)

// desk lets several masters reach one outstation, as a device does that takes several connections for
// the same association: what it says goes to who spoke last of those who are there.
type desk struct {
	device net.Conn

	mu      sync.Mutex
	masters []net.Conn // who spoke last comes last
}

// newDesk returns where masters find the outstation at an address.
func newDesk(t *testing.T, device string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", device)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := channel.Listen(t.Context(), "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{device: conn}
	var running sync.WaitGroup
	running.Go(d.tell)
	running.Go(func() {
		for {
			master, err := listener.Accept()
			if err != nil {
				return
			}
			d.stands(master, true)
			running.Go(func() { d.hear(master) })
		}
	})
	t.Cleanup(func() {
		_, _ = listener.Close(), conn.Close()
		d.mu.Lock()
		for _, m := range d.masters {
			_ = m.Close()
		}
		d.mu.Unlock()
		running.Wait()
	})
	return listener.Addr().String()
}

// stands notes that a master spoke last, or has left.
func (d *desk) stands(master net.Conn, here bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.masters = slices.DeleteFunc(d.masters, func(m net.Conn) bool { return m == master })
	if here {
		d.masters = append(d.masters, master)
	}
}

// hear passes on what a master says.
func (d *desk) hear(master net.Conn) {
	defer func() {
		d.stands(master, false)
		_ = master.Close()
	}()
	room := make([]byte, 4096)
	for {
		n, err := master.Read(room)
		if err != nil {
			return
		}
		d.stands(master, true)
		if _, err := d.device.Write(room[:n]); err != nil {
			return
		}
	}
}

// tell passes on what the device says.
func (d *desk) tell() {
	room := make([]byte, 4096)
	for {
		n, err := d.device.Read(room)
		if err != nil {
			return
		}
		d.mu.Lock()
		if len(d.masters) > 0 {
			_, _ = d.masters[len(d.masters)-1].Write(room[:n])
		}
		d.mu.Unlock()
	}
}

// way is how an outstation meets a second connection of its master.
type way struct {
	address  func(t *testing.T, device string) string
	replaces bool // the second connection takes the place of the first
}

func ways() map[string]way {
	return map[string]way{
		"that takes several connections":     {newDesk, false},
		"that replaces the older connection": {func(_ *testing.T, device string) string { return device }, true},
	}
}

// look opens a line to look at a device, with a session on it.
func look(t *testing.T, c *Config) *session {
	t.Helper()
	return connect(t, c.ReadOnly().(*Config))
}

// reads reads voltage and text, as a trial does.
func reads(t *testing.T, s *session, voltage float64) {
	t.Helper()
	samples, err := s.Read(t.Context(), []string{"voltage", "text"})
	if err != nil {
		t.Fatalf("the look gives %v", err)
	}
	if samples[0].Value != point.FloatOf(voltage) || samples[1].Value.Kind() != point.Text {
		t.Errorf("the look shows %v and %v", samples[0].Value, samples[1].Value)
	}
}

// short is how long an outstation waits for a confirmation, and lets a read wait for that.
const short = 100 * time.Millisecond

const looked = `
- {name: voltage, type: analog_input, index: 2}
- {name: text, type: octet_string, index: 5}
`

// times returns how often a value with a time comes before another value.
func times(t *testing.T, s *session, at time.Time, last point.Value) map[point.Value]int {
	t.Helper()
	came := make(map[point.Value]int)
	await(t, s, "the last event", func(p point.Sample) bool {
		if p.Time.Equal(at) {
			came[p.Value]++
		}
		return p.Time.Equal(at) && p.Value == last
	})
	return came
}

// back returns the session, or another one on a new line if the old one was replaced.
func (w way) back(t *testing.T, s *session, c *Config) *session {
	t.Helper()
	if !w.replaces {
		return s
	}
	<-s.line.only.Done()
	return connect(t, c)
}

// The configured device polls its events, so that they wait at the outstation while somebody looks.
func TestEventsThatWaitAtAnOutstationOutliveALookAtIt(t *testing.T) {
	for name, w := range ways() {
		t.Run("of an outstation "+name, func(t *testing.T) {
			d := newDevice(t)
			d.confirm = short
			address := w.address(t, d.listen(t, nil, 10))
			c := config(t, address, looked, func(c *Config) { c.Unsolicited, c.EventsWhenTold = []int{}, false })
			s := connect(t, c)
			await(t, s, "the first value", named("voltage", point.Good))
			at := time.Now().UTC().Add(-24 * time.Hour).Truncate(time.Second)
			for i := range 3 {
				d.event(2, object.Float(float64(41+i)), object.TimestampOf(at))
			}
			l := look(t, c)
			reads(t, l, 43)
			if found, err := l.Discover(t.Context()); err != nil || len(found) != 11 {
				t.Errorf("a discovery finds %d points, %v", len(found), err)
			}
			_ = l.line.Close()

			s = w.back(t, s, c)
			if _, err := s.Read(t.Context(), []string{"voltage"}); err != nil {
				t.Fatal(err)
			}
			came := times(t, s, at, point.FloatOf(43))
			for i := range 3 {
				if n := came[point.FloatOf(float64(41+i))]; n != 1 {
					t.Errorf("event %d came %d times", i, n)
				}
			}
		})
	}
}

func TestAReportThatReachesALookComesToItsOwnMaster(t *testing.T) {
	for name, w := range ways() {
		t.Run("of an outstation "+name, func(t *testing.T) {
			d := newDevice(t)
			d.confirm = short
			address := w.address(t, d.listen(t, nil, 10))
			c := config(t, address, looked)
			s := connect(t, c)
			await(t, s, "the first value", named("voltage", point.Good))
			l := look(t, c)
			reads(t, l, -20)
			at := time.Now().UTC().Add(-24 * time.Hour).Truncate(time.Second)
			d.event(2, object.Float(42), object.TimestampOf(at))
			reads(t, l, 42) // behind the report
			_ = l.line.Close()

			s = w.back(t, s, c)
			arrives := func(value float64) {
				await(t, s, "the event", func(p point.Sample) bool { return p.Value == point.FloatOf(value) && p.Time.Equal(at) })
			}
			arrives(42)
			d.event(2, object.Float(43), object.TimestampOf(at))
			arrives(43) // reports are still enabled
		})
	}
}

func TestEventsOfAForeignOutstationOutliveALookAtIt(t *testing.T) {
	peer, address := foreign(t)
	peer.Do(t, "event analog 2 42 1")
	peer.Do(t, "sync")
	peer.Await(t, "synced")
	c := config(t, address, "- {name: voltage, type: analog_input, index: 2}")
	l := look(t, c)
	samples, err := l.Read(t.Context(), []string{"voltage"})
	if err != nil || samples[0].Value != point.FloatOf(42) {
		t.Fatalf("the look gives %v, %v", samples, err)
	}
	if found, err := l.Discover(t.Context()); err != nil || len(found) == 0 {
		t.Errorf("a discovery finds %d points, %v", len(found), err)
	}
	peer.Do(t, "event analog 2 43 1")
	_ = l.line.Close()
	s := connect(t, c)
	var came []point.Value
	await(t, s, "the last value", func(p point.Sample) bool {
		came = append(came, p.Value)
		return p.Value == point.FloatOf(43)
	})
	if !slices.Contains(came, point.FloatOf(42)) {
		t.Errorf("%v came, without the event from before the look", came)
	}
}
