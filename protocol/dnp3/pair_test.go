package dnp3_test

import (
	"slices"
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// Addresses of the pair.
const (
	masterAddress     link.Address = 1
	outstationAddress link.Address = 10
)

// epoch is when virtual time begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// end is one end of an in-memory line.
type end struct {
	mux     station.Mux
	port    *station.Port
	rest    []byte
	out     *station.Output
	pending bool
}

// pair is a master and an outstation joined by a line, under a clock of their own.
type pair struct {
	t   testing.TB
	now time.Time
	// spoil returns what becomes of octets on their way; nil leaves them alone.
	spoil func(octets []byte) [][]byte
	// lag returns by how much longer than latency a write travels; nil is not at all. What
	// is written later never arrives earlier.
	lag func() time.Duration

	pool        *station.Pool
	ends        [2]*end // master, outstation
	flying      []flight
	association *master.Association
	outstation  *outstation.Outstation
	session     *outstation.Session
	seen        *values
	notices     []master.Notice
}

// flight is a write on its way.
type flight struct {
	at     time.Time
	to     *end
	octets []byte
}

// values is a handler that keeps all it is given.
type values struct {
	points []seenPoint
	infos  []master.Info
	now    master.Info
	texts  []string
}

type seenPoint struct {
	variation object.Variation
	point     object.Point
}

func (v *values) Begin(i master.Info) { v.now = i; v.infos = append(v.infos, i) }
func (v *values) End(master.Info)     {}
func (v *values) Header(h app.Header) {
	for p := range h.Points() {
		v.points = append(v.points, seenPoint{h.Variation, p})
	}
	for o := range h.Objects() {
		if h.Variation.Kind() == object.KindOctetString {
			v.texts = append(v.texts, string(o.Data))
		}
	}
}

// latency is how long octets travel.
const latency = 10 * time.Millisecond

func newPair(t testing.TB, mc master.Config, oc outstation.Config, sc outstation.SessionConfig) *pair {
	t.Helper()
	p := &pair{t: t, now: epoch, pool: station.NewPool(0), seen: &values{}}
	mc.Outstation, sc.Master = outstationAddress, masterAddress
	mc.Notify = func(n master.Notice) { p.notices = append(p.notices, n) }
	var err error
	if p.association, err = master.New(mc, p.seen); err != nil {
		t.Fatal(err)
	}
	if p.outstation, err = outstation.New(oc); err != nil {
		t.Fatal(err)
	}
	if p.session, err = p.outstation.Session(sc); err != nil {
		t.Fatal(err)
	}
	p.ends[0] = p.end(station.Config{Local: masterAddress, Remote: outstationAddress, Master: true}, p.association)
	p.ends[1] = p.end(station.Config{Local: outstationAddress, Remote: masterAddress}, p.session)
	return p
}

func (p *pair) end(c station.Config, m station.Machine) *end {
	p.t.Helper()
	port, err := station.NewPort(c, m)
	if err != nil {
		p.t.Fatal(err)
	}
	e := &end{port: port, out: p.pool.Output()}
	if err := e.mux.Add(port); err != nil {
		p.t.Fatal(err)
	}
	m.SetWake(func() { e.pending = true })
	return e
}

// open connects both ends.
func (p *pair) open() {
	for _, e := range p.ends {
		e.mux.Open(p.now, e.out)
		p.flush(e)
	}
}

// cut breaks the line: what is on its way is lost.
func (p *pair) cut() {
	p.flying = nil
	for _, e := range p.ends {
		e.mux.Close(p.now, p.pool)
		e.rest = nil
	}
}

// flush puts what an end wrote on its way to the other.
func (p *pair) flush(from *end) {
	octets := append([]byte(nil), from.out.Wire()...)
	from.out.Reset()
	if len(octets) == 0 {
		return
	}
	to := p.ends[0]
	if from == to {
		to = p.ends[1]
	}
	pieces := [][]byte{octets}
	if p.spoil != nil {
		pieces = p.spoil(octets)
	}
	at := p.now.Add(latency)
	if p.lag != nil {
		at = at.Add(p.lag())
	}
	for _, other := range p.flying {
		if other.to == to && other.at.After(at) {
			at = other.at
		}
	}
	for _, piece := range pieces {
		p.flying = append(p.flying, flight{at, to, piece})
	}
	slices.SortStableFunc(p.flying, func(a, b flight) int { return a.at.Compare(b.at) })
}

// run lets a time pass.
func (p *pair) run(d time.Duration) {
	end := p.now.Add(d)
	for p.step(end) {
	}
	p.now = end
}

// step handles the next thing that happens until end.
func (p *pair) step(until time.Time) bool {
	for _, e := range p.ends {
		if e.pending {
			e.pending = false
			e.mux.Tick(p.now, e.out)
			p.flush(e)
			return true
		}
	}
	due := p.next()
	if due.IsZero() || due.After(until) {
		return false
	}
	if due.After(p.now) {
		p.now = due
	}
	if len(p.flying) > 0 && !p.flying[0].at.After(p.now) {
		f := p.flying[0]
		p.flying = p.flying[1:]
		f.to.rest = append(f.to.rest, f.octets...)
		n := f.to.mux.Receive(p.now, f.to.rest, f.to.out)
		f.to.rest = append([]byte(nil), f.to.rest[n:]...)
		p.flush(f.to)
		return true
	}
	for _, e := range p.ends {
		if station.Due(e.mux.Deadline(), p.now) {
			e.mux.Tick(p.now, e.out)
			p.flush(e)
			if station.Due(e.mux.Deadline(), p.now) {
				p.t.Fatalf("the deadline %v stays due after a tick at %v", e.mux.Deadline(), p.now)
			}
		}
	}
	return true
}

func (p *pair) next() time.Time {
	due := station.Earlier(p.ends[0].mux.Deadline(), p.ends[1].mux.Deadline())
	if len(p.flying) > 0 {
		due = station.Earlier(due, p.flying[0].at)
	}
	return due
}

// ask submits a request and runs until it ended.
func (p *pair) ask(r *master.Request) (master.Result, error) {
	p.t.Helper()
	var result master.Result
	var err error
	ended := false
	p.association.Submit(r, func(got master.Result, problem error) { result, err, ended = got, problem, true })
	for range 100 {
		if p.run(time.Second); ended {
			return result, err
		}
	}
	p.t.Fatalf("%v never ended", r)
	return result, err
}

func online(value object.Value, index uint32) object.Point {
	return object.Point{Value: value, Index: index, Flags: object.FlagOnline, Time: object.TimestampOf(epoch)}
}
