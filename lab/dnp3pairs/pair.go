// Package dnp3pairs runs pairs of DNP3 masters and outstations over loopback, in one process or two: the exchange of confirmed reports by
// which DNP3 stacks are compared, and many outstations with one master process.
package dnp3pairs

import (
	"fmt"
	"sync/atomic"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// Addresses of every pair.
const (
	outstationAddress link.Address = 10
	masterAddress     link.Address = 1
)

// Points is how many points an outstation has of each of the three types: binary inputs, counters, analog inputs.
const Points = 11

// script yields the same events at both ends: a small generator without memory.
type script struct{ state uint64 }

func newScript(session int) script { return script{uint64(session)*0x9E3779B97F4A7C15 + 1} }

// next returns the next event. Times and values are random, values of 16 bit.
func (s *script) next() (object.Kind, object.Point) {
	s.state += 0x9E3779B97F4A7C15
	x := s.state
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	x ^= x >> 31
	form := &formTable[(x&0xFFFF)*uint64(len(formTable))>>16]
	return form.kind, object.Point{
		Index: uint32((x >> 16 & 0xFFFF) * Points >> 16), Flags: object.FlagOnline,
		Time:  object.Timestamp{Milliseconds: 1_700_000_000_000 + x>>32, Quality: object.TimeAbsolute},
		Value: object.ValueOf(form.value, x>>48&form.mask),
	}
}

// formTable holds the three types of events.
var formTable = [...]struct {
	kind  object.Kind
	value object.ValueKind
	mask  uint64
}{
	{object.KindBinaryInput, object.BoolValue, 1},
	{object.KindCounter, object.UnsignedValue, 0xFFFF},
	{object.KindAnalogInput, object.SignedValue, 0x7FFF},
}

// source is the outstation's application: it makes the next events on demand.
type source struct {
	device *outstation.Outstation
	port   *station.Port
	script script
	values int
}

// database is the configuration of every outstation.
func database() outstation.Config {
	c := outstation.Config{EventLimits: map[object.Kind]int{
		object.KindBinaryInput: 100, object.KindCounter: 100, object.KindAnalogInput: 100,
	}}
	for i := range uint32(Points) {
		c.Points = append(
			c.Points,
			outstation.PointConfig{Kind: object.KindBinaryInput, Index: i, Class: app.Class1, Static: object.G1V2, Event: object.G2V2},
			outstation.PointConfig{Kind: object.KindCounter, Index: i, Class: app.Class1, Static: object.G20V1, Event: object.G22V5},
			outstation.PointConfig{Kind: object.KindAnalogInput, Index: i, Class: app.Class1, Static: object.G30V1, Event: object.G32V3},
		)
	}
	return c
}

func newSource(c outstation.Config, address link.Address, session, values int, own bool) (*source, error) {
	s := &source{script: newScript(session), values: values}
	if own { // nobody else here says when a message is done
		c.Callbacks.Confirmed = func(tx *outstation.Tx, _ link.Address, _ int) { s.write(tx) }
	}
	var err error
	if s.device, err = outstation.New(c); err != nil {
		return nil, err
	}
	session1, err := s.device.Session(outstation.SessionConfig{Master: masterAddress, Unsolicited: true})
	if err != nil {
		return nil, err
	}
	s.port, err = station.NewPort(station.Config{Local: address, Remote: masterAddress}, session1)
	return s, err
}

// update makes the events of a message in one transaction.
func (s *source) update() { s.device.Update(s.write) }

func (s *source) write(tx *outstation.Tx) {
	for range s.values {
		kind, p := s.script.next()
		tx.Set(kind, p, outstation.Force)
	}
}

// sink is the master's application: it compares every value, and starts the next
// message when one is complete, if the source is at hand.
type sink struct {
	script   script
	want     int
	seen     int
	then     func()
	messages atomic.Int64
	wrong    atomic.Int64
	current  atomic.Int64 // current values that arrived
	ready    chan<- struct{}
	master   *master.Association
	port     *station.Port
}

func newSink(address link.Address, session, values int, ready chan<- struct{}) (*sink, error) {
	s := &sink{script: newScript(session), want: values, ready: ready}
	a, err := master.New(master.Config{
		Outstation: address, Enable: app.EventClasses,
		Notify: func(n master.Notice) {
			switch {
			case n.Kind == master.NoticeReady:
				ready <- struct{}{}
			case n.Err != nil:
				s.wrong.Add(1)
			}
		},
	}, s)
	if err != nil {
		return nil, err
	}
	s.port, err = station.NewPort(station.Config{Local: masterAddress, Remote: address, Master: true}, a)
	s.master = a
	return s, err
}

// Begin implements master.Handler.
func (s *sink) Begin(master.Info) {}

// Header implements master.Handler.
func (s *sink) Header(h app.Header) {
	kind := h.Variation.Kind()
	if !h.Variation.Event() {
		for range h.Points() {
			s.current.Add(1)
		}
		return
	}
	for p := range h.Points() {
		if wantKind, want := s.script.next(); kind != wantKind || p != want {
			s.wrong.Add(1)
		}
		s.seen++
	}
}

// End implements master.Handler.
func (s *sink) End(master.Info) {
	if s.seen < s.want || s.want == 0 {
		return
	}
	s.seen -= s.want
	s.messages.Add(1)
	if s.then != nil {
		s.then()
	}
}

// check reports values that were not the expected ones.
func (s *sink) check() error {
	if n := s.wrong.Load(); n > 0 {
		return fmt.Errorf("%d values or requests went wrong", n)
	}
	return nil
}
