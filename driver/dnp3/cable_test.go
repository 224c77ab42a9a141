package dnp3

import (
	"io"
	"sync"
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// lane carries bytes one way in memory, so that a line can live under virtual time.
type lane struct {
	mu     sync.Mutex
	more   sync.Cond
	octets []byte
	shut   bool
	broken bool // what is written is lost, and nobody is told
}

func newLane() *lane {
	l := &lane{}
	l.more.L = &l.mu
	return l
}

func (l *lane) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	l.more.Broadcast()
}

// cable is one end of two lanes.
type cable struct{ in, out *lane }

func newCable() (near, far cable) {
	a, b := newLane(), newLane()
	return cable{a, b}, cable{b, a}
}

func (c cable) Read(p []byte) (n int, err error) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	for len(c.in.octets) == 0 {
		if c.in.shut {
			return 0, io.EOF
		}
		c.in.more.Wait()
	}
	n = copy(p, c.in.octets)
	c.in.octets = c.in.octets[n:]
	return n, nil
}

func (c cable) Write(p []byte) (n int, err error) {
	c.out.change(func() {
		switch {
		case c.out.shut:
			err = io.ErrClosedPipe
		case !c.out.broken:
			c.out.octets = append(c.out.octets, p...)
		}
	})
	return len(p), err
}

func (c cable) Close() error {
	c.in.change(func() { c.in.shut = true })
	c.out.change(func() { c.out.shut = true })
	return nil
}

// fall loses everything in both directions from now on, as a radio link that fades does.
func (c cable) fall() {
	c.in.change(func() { c.in.broken = true })
	c.out.change(func() { c.out.broken = true })
}

// peculiar is an outstation of our own library that departs from the standard in one way.
type peculiar struct {
	station.Machine

	// first is sent as soon as the line opens, nil for nothing.
	first []byte
	// answer handles a fragment in the device's own way, or returns false to leave it to the
	// library. It may replace the machine.
	answer func(f app.Fragment, out *station.Output) bool
	wake   func()
}

func (p *peculiar) Open(now time.Time, out *station.Output) {
	if p.first != nil {
		out.Send(p.first)
	}
	p.Machine.Open(now, out)
}

func (p *peculiar) Receive(now time.Time, m station.Message, out *station.Output) {
	f, err := app.Parse(m.Octets)
	if err == nil && p.answer != nil && p.answer(f, out) {
		return
	}
	p.Machine.Receive(now, m, out)
}

func (p *peculiar) SetWake(wake func()) {
	p.wake = wake
	p.Machine.SetWake(wake)
}

// become replaces the machine by that of a device which has just been switched on.
func (p *peculiar) become(m station.Machine, out *station.Output) {
	p.Machine = m
	m.SetWake(p.wake)
	m.Open(time.Now(), out)
}

// refuse answers a request with an indication.
func refuse(f app.Fragment, iin app.IIN, out *station.Output) bool {
	w := app.NewResponse(out.Scratch(), f.Control.Sequence().Single(), app.FuncResponse, iin)
	out.Send(w.Bytes())
	return true
}

// plant is an outstation that holds a voltage, an empty text and a relay.
func plant(t *testing.T, operated *int, change ...func(*outstation.Config)) *outstation.Outstation {
	t.Helper()
	c := outstation.Config{
		Points: []outstation.PointConfig{
			{Kind: object.KindAnalogInput, Index: 2, Class: app.Class2, Static: object.G30V5, Event: object.G32V7},
			{Kind: object.KindAnalogInput, Index: 0, Class: app.Class2},
			{Kind: object.KindBinaryOutput, Index: 1},
			{Kind: object.KindOctetString, Index: 5},
		},
		EmptyStrings: true, SelectTimeout: time.Minute,
		Callbacks: outstation.Callbacks{
			Operate: func(*outstation.Tx, outstation.Command) object.Status {
				*operated++
				return object.StatusSuccess
			},
			SetTime: func(time.Time) bool { return true },
		},
	}
	for _, f := range change {
		f(&c)
	}
	o, err := outstation.New(c)
	if err != nil {
		t.Fatal(err)
	}
	o.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindAnalogInput, object.Point{Index: 2, Value: object.Float(-20), Flags: object.FlagOnline}, outstation.Suppress)
		tx.Set(object.KindBinaryOutput, object.Point{Index: 1, Flags: object.FlagOnline}, outstation.Suppress)
	})
	return o
}

// serve returns the session of an outstation with this driver.
func serve(t *testing.T, o *outstation.Outstation) *outstation.Session {
	t.Helper()
	s, err := o.Session(outstation.SessionConfig{Master: 1, Unsolicited: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// join connects a device to a session of the driver by a cable, whose near end it returns.
func join(t *testing.T, c *Config, device station.Machine) (*session, cable) {
	t.Helper()
	near, far := newCable()
	port, err := station.NewPort(station.Config{Local: 10, Remote: 1}, device)
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{} // virtual time knows no workers
	end := channel.NewLine(e.enter(), far)
	if err := end.Add(port); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = end.Run() })
	l := newLine(c, e)
	l.use(near)
	t.Cleanup(func() {
		_ = l.Close()
		end.Close()
		running.Wait()
		e.leave()
	})
	return openOn(t, l, c), near
}
