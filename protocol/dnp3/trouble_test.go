package dnp3_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// restart replaces the outstation by a fresh one, while the line stays up.
func (p *pair) restart(c outstation.Config) {
	p.t.Helper()
	o, err := outstation.New(c)
	if err != nil {
		p.t.Fatal(err)
	}
	session, err := o.Session(outstation.SessionConfig{Master: masterAddress})
	if err != nil {
		p.t.Fatal(err)
	}
	p.outstation, p.session = o, session
	p.ends[1] = p.end(station.Config{Local: outstationAddress, Remote: masterAddress}, session)
	p.ends[1].mux.Open(p.now, p.ends[1].out)
	p.flush(p.ends[1])
}

// answers reports whether octets hold a solicited response.
func answers(octets []byte) bool {
	var parser link.Parser
	var room [link.MaxPayload]byte
	f, _, ok := parser.Next(octets, &room)
	return ok && len(f.Payload) > 2 && app.Function(f.Payload[2]) == app.FuncResponse
}

func TestAnOutstationThatRestartsAfterASelectOperatesNothing(t *testing.T) {
	operated := 0
	c := plant(2)
	c.Callbacks.Operate = func(*outstation.Tx, outstation.Command) object.Status {
		operated++
		return object.StatusSuccess
	}
	p := newPair(t, master.Config{}, c, outstation.SessionConfig{})
	p.open()
	if _, err := p.ask(master.ClearRestart()); err != nil {
		t.Fatal(err)
	}
	p.spoil = func(octets []byte) [][]byte {
		if answers(octets) {
			p.spoil = nil
			p.restart(c)
		}
		return [][]byte{octets}
	}
	result, err := p.ask(master.SelectOperate(master.Latch(1, true)))
	if !errors.Is(err, master.ErrStatus) || len(result.Statuses) != 1 || result.Statuses[0] != object.StatusNoSelect || operated != 0 {
		t.Errorf("%+v, %v, %d operated", result, err, operated)
	}
	restarts := 0
	for _, n := range p.notices {
		if n.Kind == master.NoticeRestart {
			restarts++
		}
	}
	if restarts != 1 {
		t.Errorf("%d restarts were noticed", restarts)
	}
}

func TestNothingIsOperatedWithoutATimelySelection(t *testing.T) {
	const lasts = 5 * time.Second
	rapid.Check(t, func(r *rapid.T) {
		h := &history{draw: r}
		selected := make(map[uint32]time.Time)
		operated := make(map[uint32]int)
		c := plant(20)
		c.SelectTimeout = lasts
		c.Callbacks.Select = func(c outstation.Command) object.Status {
			selected[c.Index] = c.Time
			return object.StatusSuccess
		}
		c.Callbacks.Operate = func(_ *outstation.Tx, c outstation.Command) object.Status {
			at, known := selected[c.Index]
			if !known || c.Time.Sub(at) >= lasts {
				r.Fatalf("command %d operates %v after its selection, %t", c.Index, c.Time.Sub(at), known)
			}
			operated[c.Index]++
			return object.StatusSuccess
		}
		h.pair = newPair(fatal{t, r}, master.Config{ResponseTimeout: 20 * time.Second}, c, outstation.SessionConfig{})
		h.lag = func() time.Duration {
			return time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 3000, 6000}).Draw(r, "lag")) * time.Millisecond
		}
		h.spoil = h.weather
		h.open()
		for i := range uint32(rapid.IntRange(1, 15).Draw(r, "commands")) {
			if rapid.IntRange(0, 4).Draw(r, "restart") == 0 {
				clear(selected)
				h.restart(c)
			}
			_, err := h.ask(master.SelectOperate(master.Latch(i, true)))
			if err == nil && operated[i] != 1 || operated[i] > 1 {
				r.Fatalf("command %d ended with %v and was carried out %d times", i, err, operated[i])
			}
		}
	})
}

func TestOfTwoOutstationsWithOneAddressTheFirstAnswerCounts(t *testing.T) {
	p := newPair(t, master.Config{}, plant(1), outstation.SessionConfig{})
	p.open()
	p.outstation.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindAnalogInput, online(object.Signed(7), 0), outstation.Suppress)
	})
	p.spoil = func(octets []byte) [][]byte {
		if !answers(octets) {
			return [][]byte{octets}
		}
		var parser link.Parser
		var room [link.MaxPayload]byte
		f, _, _ := parser.Next(octets, &room)
		f.Payload[len(f.Payload)-4]++ // the value, as another device has it
		other, err := link.AppendFrame(nil, f.Header, f.Payload)
		if err != nil {
			t.Fatal(err)
		}
		return [][]byte{octets, other}
	}
	for range 3 {
		p.seen.points = nil
		_, err := p.ask(master.ReadRange(object.G30V1, 0, 0))
		if err != nil || len(p.seen.points) != 1 || p.seen.points[0].point.Value.Int() != 7 {
			t.Fatalf("%+v, %v", p.seen.points, err)
		}
	}
}

func TestASilentOutstationEndsEachRequestWithAWord(t *testing.T) {
	p := newPair(t, master.Config{Startup: app.Integrity, ResponseTimeout: time.Second, Retries: 2}, plant(1), outstation.SessionConfig{})
	sent := 0
	p.spoil = func([]byte) [][]byte {
		sent++
		return nil
	}
	p.open()
	for _, r := range []*master.Request{master.ReadClasses(app.Integrity), master.Operate(master.Latch(0, true)), master.SyncTime(master.LAN)} {
		if _, err := p.ask(r); !errors.Is(err, master.ErrTimeout) {
			t.Errorf("%v ended with %v", r, err)
		}
	}
	if sent < 5 || sent > 60 {
		t.Errorf("%d requests were sent in about 100 s", sent)
	}
}

func TestIndexesBeyondThoseOfAnOutstationAreRefused(t *testing.T) {
	c := plant(1)
	c.Callbacks.Operate = func(tx *outstation.Tx, c outstation.Command) object.Status {
		if _, known := tx.Get(object.KindBinaryOutput, c.Index); !known {
			return object.StatusNotSupported
		}
		return object.StatusSuccess
	}
	p := newPair(t, master.Config{}, c, outstation.SessionConfig{})
	p.open()
	const far = 1<<32 - 1
	for _, r := range []*master.Request{
		master.ReadRange(object.G30V1, 70_000, far),
		master.WriteDeadbands(object.G34V3, []object.Point{{Index: far, Value: object.Float(1)}}),
		master.AssignClass(app.Class1, func(w *app.Writer) error { return w.Range(object.G1V0, far, far) }),
		master.Freeze(func(w *app.Writer) error { return w.Range(object.G20V0, 65_536, far) }),
		master.Operate(master.Latch(1<<16, true)),
	} {
		if _, err := p.ask(r); !errors.Is(err, master.ErrRefused) && !errors.Is(err, master.ErrStatus) {
			t.Errorf("%v ended with %v", r, err)
		}
	}
}
