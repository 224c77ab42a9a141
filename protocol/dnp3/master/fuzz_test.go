package master

import (
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

// reader is a handler that reads all there is.
type reader struct{ n int }

func (r *reader) Begin(Info) {}
func (r *reader) End(Info)   {}
func (r *reader) Header(h app.Header) {
	for range h.Points() {
		r.n++
	}
	for o := range h.Objects() {
		r.n += len(o.Data)
	}
}

// hostile is an association that a fuzzer plays the outstation for.
type hostile struct {
	a    *Association
	mux  station.Mux
	port *station.Port
	out  *station.Output
	pool *station.Pool
	now  time.Time
}

func newHostile(tb testing.TB) *hostile {
	tb.Helper()
	h := &hostile{pool: station.NewPool(0), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	var err error
	h.a, err = New(Config{
		Outstation: 10, DisableFirst: app.EventClasses, Startup: app.Integrity, Enable: app.EventClasses,
		TimeSync: NonLAN, OnEvents: app.Class1, IntegrityOnOverflow: true, Retries: 1, MaxQueue: 8, Turn: &Turn{},
		Polls: []Poll{{app.EventClasses, time.Minute}},
	}, &reader{})
	if err != nil {
		tb.Fatal(err)
	}
	if h.port, err = station.NewPort(station.Config{Local: 1, Remote: 10, Master: true, KeepAlive: time.Hour}, h.a); err != nil {
		tb.Fatal(err)
	}
	if err = h.mux.Add(h.port); err != nil {
		tb.Fatal(err)
	}
	h.out = h.pool.Output()
	h.mux.Open(h.now, h.out)
	return h
}

// play does what the fuzzer wants next and returns the rest of its script.
func (h *hostile) play(script []byte) []byte {
	op, n := script[0], min(int(script[1]), len(script)-2)
	data, rest := script[2:2+n], script[2+n:]
	switch op % 8 {
	case 0, 1, 2: // an answer with the right sequence number
		h.fragment(data, app.FuncResponse, h.a.exchanging.sequence, op&8 != 0)
	case 3: // a report
		h.fragment(data, app.FuncUnsolicitedResponse, app.Sequence(op>>4), true)
	case 4:
		h.mux.Receive(h.now, data, h.out)
	case 5:
		h.now = h.now.Add(time.Duration(n) * time.Second)
		h.mux.Tick(h.now, h.out)
	case 6:
		requests := []*Request{
			SelectOperate(Latch(1, true), Setpoint(2, 3)), Operate(Latch(1, true)), Restart(true), SyncTime(LAN),
			ReadFile("f", 0, 100, func([]byte) error { return nil }), ReadDirectory("d", 0, 100, func(file.Descriptor) {}),
			ReadClasses(app.Integrity), FreezeAt(h.now, time.Hour, func(w *app.Writer) error { return w.All(object.G20V0) }),
		}
		h.a.Submit(requests[n%len(requests)], nil)
		h.mux.Tick(h.now, h.out)
	case 7:
		h.mux.Close(h.now, h.pool)
		h.mux.Open(h.now, h.out)
	}
	h.out.Reset()
	return rest
}

// fragment frames an answer with a head that fits, so that the fuzzer gets past it.
func (h *hostile) fragment(data []byte, f app.Function, sequence app.Sequence, confirm bool) {
	control := sequence.Single()
	if f == app.FuncUnsolicitedResponse {
		control |= app.UNS
	} else if !h.a.exchanging.first {
		control &^= app.FIR
	}
	if confirm {
		control |= app.CON
	}
	if len(data) > 2 && data[len(data)-1]&1 != 0 && f == app.FuncResponse {
		control &^= app.FIN
	}
	octets := append([]byte{byte(control), byte(f), 0, 0}, data...)
	if len(data) >= 2 {
		octets = append(octets[:2], data...)
	}
	h.out.Reset()
	h.port.Tick(h.now, h.out)
	h.a.Receive(h.now, station.Message{Octets: octets, Source: 10}, h.out)
}

func FuzzMasterSurvivesHostileOutstations(f *testing.F) {
	f.Add([]byte("\x00\x02\x80\x00\x00\x02\x00\x00\x05\x06......\x06\x00\x00\x02\x00\x00"))
	f.Add([]byte("\x03\x09\x00\x00\x02\x02\x28\x01\x00\x00\x00\x06\x00\x05\x10................\x07\x00"))
	f.Add([]byte("\x06\x00\x00\x12\x00\x00\x0c\x01\x28\x01\x00\x01\x00\x03\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		h := newHostile(t)
		for n := 0; len(script) >= 2 && n < 200; n++ {
			script = h.play(script)
			if due := h.mux.Deadline(); station.Due(due, h.now) {
				h.mux.Tick(h.now, h.out)
				h.out.Reset()
				if still := h.mux.Deadline(); station.Due(still, h.now) {
					t.Fatalf("the deadline %v stays due at %v", still, h.now)
				}
			}
		}
		h.mux.Close(h.now, h.pool)
		if h.a.current != nil || len(h.a.queue) != 0 || len(h.a.requests) != 0 {
			t.Fatal("requests outlive the line")
		}
	})
}

func FuzzMasterSurvivesAnyOctets(f *testing.F) {
	f.Add([]byte("\x05\x64\x05\x00\x01\x00\x0a\x00"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		h := newHostile(t)
		for len(octets) > 0 {
			n := min(len(octets), link.MaxFrame)
			h.mux.Receive(h.now, octets[:n], h.out)
			octets = octets[n:]
		}
	})
}
