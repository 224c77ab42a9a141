package main

import (
	"errors"
	"testing/fstest"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/outstation/filetransfer"
	"voltbus/protocol/dnp3/station"
	"voltbus/protocol/dnp3/transport"
)

// device is an outstation that has everything, to be asked what it knows.
type device struct{ clock time.Time }

// pointKinds are the kinds of points that an outstation has.
var pointKinds = [...]object.Kind{
	object.KindBinaryInput, object.KindDoubleBitInput, object.KindBinaryOutput, object.KindCounter,
	object.KindFrozenCounter, object.KindAnalogInput, object.KindFrozenAnalog, object.KindAnalogOutput,
	object.KindOctetString, object.KindInteger, object.KindTime,
}

var errSilent = errors.New("the outstation does not answer")

func newDevice() *device { return &device{clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func configuration() outstation.Config {
	c := outstation.Config{
		Attributes: map[uint8]object.Attribute{252: {Type: object.AttributeText, Data: []byte("maker")}},
		Files:      filetransfer.Service{Files: fstest.MapFS{"a": {Data: []byte("content")}}},
		Callbacks: outstation.Callbacks{
			Operate:  func(*outstation.Tx, outstation.Command) object.Status { return object.StatusSuccess },
			SetTime:  func(time.Time) bool { return true },
			Restart:  func(bool) (time.Duration, bool) { return time.Second, true },
			Activate: func(string) (time.Duration, uint8) { return 0, 0 },
		},
	}
	for i, kind := range pointKinds {
		p := outstation.PointConfig{Kind: kind}
		if kind != object.KindInteger && kind != object.KindTime {
			p.Class = app.Class1 << (i % 3)
		}
		if kind == object.KindBinaryOutput || kind == object.KindAnalogOutput {
			p.CommandClass = app.Class2
		}
		c.Points = append(c.Points, p)
	}
	return c
}

// start returns a fresh outstation with an event of every kind.
func (d *device) start() (*outstation.Session, error) {
	o, err := outstation.New(configuration())
	if err != nil {
		return nil, err
	}
	s, err := o.Session(outstation.SessionConfig{Master: 1, Unsolicited: true})
	if err != nil {
		return nil, err
	}
	o.Update(func(tx *outstation.Tx) {
		for _, kind := range pointKinds {
			tx.Set(kind, object.Point{Value: object.Unsigned(1), Flags: object.FlagOnline, Time: object.TimestampOf(d.clock)}, outstation.Force)
		}
		tx.SetString(0, []byte("t"), outstation.Force)
	})
	return s, nil
}

// ask gives a fresh outstation fragments and returns its last answer.
func (d *device) ask(fragments ...[]byte) (app.Fragment, error) {
	s, err := d.start()
	if err != nil {
		return app.Fragment{}, err
	}
	port, err := station.NewPort(station.Config{Local: 10, Remote: 1}, s)
	if err != nil {
		return app.Fragment{}, err
	}
	var mux station.Mux
	if err := mux.Add(port); err != nil {
		return app.Fragment{}, err
	}
	out := station.NewPool(0).Output()
	mux.Open(d.clock, out)
	for _, fragment := range fragments {
		out.Reset()
		h := link.Header{Control: link.UnconfirmedUserData.With(link.DIR), Destination: 10, Source: 1}
		wire, _, err := transport.AppendFragment(nil, h, 0, fragment)
		if err != nil {
			return app.Fragment{}, err
		}
		mux.Receive(d.clock, wire, out)
	}
	return answerIn(out.Wire())
}

// answerIn returns the first response in octets.
func answerIn(wire []byte) (app.Fragment, error) {
	var parser link.Parser
	var room [link.MaxPayload]byte
	var joiner transport.Reassembler
	joiner.Lend(make([]byte, 0, station.FragmentSize))
	for {
		frame, n, ok := parser.Next(wire, &room)
		wire = wire[n:]
		if !ok {
			return app.Fragment{}, errSilent
		}
		if fragment, complete := joiner.Add(frame.Payload); complete {
			return app.Parse(fragment)
		}
	}
}

// confirmation ends the empty report with which an outstation begins.
func confirmation() []byte { return []byte{0xD0, byte(app.FuncConfirm)} }

// answers reports whether a read of a variation gives objects of it.
func (d *device) answers(v object.Variation) (bool, error) {
	fragments := [][]byte{confirmation()}
	if v.Kind() == object.KindBinaryCommandEvent || v.Kind() == object.KindAnalogCommandEvent {
		operate, err := command()
		if err != nil {
			return false, err
		}
		fragments = append(fragments, operate)
	}
	w := app.NewRequest(make([]byte, 0, 64), app.Sequence(2).Single(), app.FuncRead)
	var err error
	if v.Kind() == object.KindAttribute {
		err = w.Range(v, 0, 0)
	} else {
		err = w.All(v)
	}
	if err != nil {
		return false, err
	}
	f, err := d.ask(append(fragments, w.Bytes())...)
	if err != nil {
		return false, err
	}
	for h, err := range f.Headers() {
		if err != nil {
			return false, err
		}
		if h.Variation == v || v.Number() == 0 && h.Variation.Group() == v.Group() || v == object.G0V254 || v.Kind() == object.KindClass {
			return true, nil
		}
	}
	return false, nil
}

// command operates outputs of both kinds.
func command() ([]byte, error) {
	w := app.NewRequest(make([]byte, 0, 64), app.Sequence(1).Single(), app.FuncDirectOperate)
	err := errors.Join(
		w.CROB(0, object.CROB{Code: object.OpLatchOn, Count: 1}),
		w.Indexed(object.G41V1, object.Point{Value: object.Signed(1)}),
	)
	return w.Bytes(), err
}

// performs reports whether a function is carried out: refused for its objects, maybe, but
// not as such.
func (d *device) performs(f app.Function) (bool, error) {
	if f == app.FuncConfirm {
		return true, nil
	}
	answer, err := d.ask(confirmation(), []byte{0xC1, byte(f)})
	if errors.Is(err, errSilent) {
		return !f.Answered() && f != app.FuncAuthRequestNoAck, nil
	}
	return err == nil && !answer.IIN.Has(app.IINNoFunction), err
}
