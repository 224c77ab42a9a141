package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// Difference is a place where our outstation said something else than the recorded one.
type Difference struct {
	// At is when the master spoke before.
	At time.Duration
	// Asked is what it said, empty if the outstation spoke unasked.
	Asked string
	// Recorded and Ours are what the outstations said then.
	Recorded, Ours []string
}

// String spells the difference over several lines.
func (d Difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s", d.At, d.Asked)
	for _, s := range d.Recorded {
		b.WriteString("\n    recorded " + s)
	}
	for _, s := range d.Ours {
		b.WriteString("\n    ours     " + s)
	}
	return b.String()
}

// Traits are what the recorded device was configured for, as its conversation shows.
type Traits struct {
	// Unsolicited says that it reports unasked, DoubleBit that it has double-bit inputs.
	Unsolicited, DoubleBit bool
}

// Device makes the outstation that is compared. It is called for each start of the device.
type Device func(t Traits) (*outstation.Outstation, *outstation.Session, station.Config, error)

// Replay speaks to our outstation as the recorded master did, at the recorded times. What
// a person did to the recorded device is inferred from what the device said: a restart
// indication means that it was restarted, an event that was not reported before that it
// was caused, a local-control indication that a switch was turned.
func Replay(moments []Moment, device Device) ([]Difference, error) {
	r := &replay{device: device, ear: newEar(), ours: newEar(), master: newEar(), pool: station.NewPool(0)}
	r.traits = traitsOf(moments)
	if err := r.start(); err != nil {
		return nil, err
	}
	for i, m := range moments {
		if err := r.moment(m, moments[i+1:]); err != nil {
			return nil, err
		}
	}
	r.until(r.now.Sub(epoch()) + settle)
	r.compare()
	return r.differences, nil
}

// settle is how long a device is listened to after the last recorded octet.
const settle = 100 * time.Millisecond

// epoch is when a recording begins.
func epoch() time.Time { return time.Date(2020, 4, 10, 12, 0, 0, 0, time.UTC) }

// traitsOf looks for the traits of the recorded outstation.
func traitsOf(moments []Moment) Traits {
	var t Traits
	e := newEar()
	for _, m := range moments {
		if m.Master {
			continue
		}
		for _, u := range e.hear(m.Octets) {
			t.Unsolicited = t.Unsolicited || u.unsolicited()
			f, _ := u.parse()
			for h, err := range f.Headers() {
				t.DoubleBit = t.DoubleBit || err == nil && h.Variation.Kind() == object.KindDoubleBitInput
			}
		}
	}
	return t
}

// replay is a conversation that is being replayed.
type replay struct {
	device Device
	traits Traits

	now     time.Time
	o       *outstation.Outstation
	session *outstation.Session
	pool    *station.Pool
	out     *station.Output
	mux     *station.Mux
	rest    []byte

	ear, ours, master *ear
	asked             string
	askedAt           time.Duration
	recorded, said    []utterance
	repeats           [2]repeats  // of the recorded device and of ours
	reported          []utterance // by the recorded device, and not confirmed yet
	pending           []caused    // events that the recorded device reported and nobody confirmed
	differences       []Difference
}

// caused is an event of the recorded device.
type caused struct {
	kind  object.Kind
	point object.Point
}

// start switches our device on.
func (r *replay) start() error {
	o, session, c, err := r.device(r.traits)
	if err != nil {
		return err
	}
	port, err := station.NewPort(c, session)
	if err != nil {
		return err
	}
	r.o, r.session, r.mux, r.out, r.rest = o, session, &station.Mux{}, r.pool.Output(), nil
	r.pending, r.reported = nil, nil
	return r.mux.Add(port)
}

func (r *replay) moment(m Moment, later []Moment) error {
	r.until(m.At)
	switch {
	case m.Opens:
		r.compare()
		r.mux.Open(r.now, r.out)
		r.collect()
	case m.Master && len(m.Octets) > 0:
		r.compare()
		r.asked, r.askedAt = r.spellMaster(m.Octets), m.At
		if err := r.prepare(later); err != nil {
			return err
		}
		r.rest = append(r.rest, m.Octets...)
		n := r.mux.Receive(r.now, r.rest, r.out)
		r.rest = append([]byte(nil), r.rest[n:]...)
		r.collect()
	case !m.Master && len(m.Octets) > 0:
		heard := r.ear.hear(m.Octets)
		for _, u := range heard {
			if u.unsolicited() {
				r.cause(u)
			}
		}
		r.recorded = append(r.recorded, heard...)
		r.report(heard)
	}
	if m.Closes && r.mux.Ports()[0].Opened() {
		r.mux.Close(r.now, r.pool)
		r.ear, r.ours, r.master, r.rest = newEar(), newEar(), newEar(), nil
	}
	return nil
}

// report notes what the recorded device wants to be confirmed; a solicited response makes
// an older one void.
func (r *replay) report(heard []utterance) {
	for _, u := range heard {
		f, ok := u.parse()
		if !ok {
			continue
		}
		r.reported = slices.DeleteFunc(r.reported, func(old utterance) bool { return old.unsolicited() == u.unsolicited() })
		if f.Control.Confirm() {
			r.reported = append(r.reported, u)
		}
	}
}

// until lets time pass.
func (r *replay) until(at time.Duration) {
	end := epoch().Add(at)
	for due := r.mux.Deadline(); !due.IsZero() && due.Before(end); due = r.mux.Deadline() {
		if due.After(r.now) {
			r.now = due
		}
		r.mux.Tick(r.now, r.out)
		r.collect()
	}
	if end.After(r.now) {
		r.now = end
	}
}

// collect takes what our outstation said.
func (r *replay) collect() {
	r.said = append(r.said, r.ours.hear(r.out.Wire())...)
	r.out.Reset()
}

// spellMaster spells what the master says, and notes its confirmations.
func (r *replay) spellMaster(octets []byte) string {
	var b strings.Builder
	for _, u := range r.master.hear(octets) {
		r.confirmed(u)
		if u.fragment == nil {
			fmt.Fprintf(&b, "%v ", u.link)
			continue
		}
		fmt.Fprintf(&b, "% X ", u.fragment)
	}
	return b.String()
}

// confirmed forgets the events of the recorded fragment that the master confirms.
func (r *replay) confirmed(u utterance) {
	f, ok := u.parse()
	if !ok || f.Function != app.FuncConfirm {
		return
	}
	for i, sent := range r.reported {
		of, _ := sent.parse()
		if of.Control.Sequence() != f.Control.Sequence() || of.Control.Unsolicited() != f.Control.Unsolicited() {
			continue
		}
		for _, c := range eventsOf(of) {
			r.pending = without(r.pending, c)
		}
		r.reported = slices.Delete(r.reported, i, i+1)
		return
	}
}

// prepare does to our device what a person did to the recorded one before it answered.
func (r *replay) prepare(later []Moment) error {
	listener := newEar()
	for _, m := range later {
		if m.Master && len(m.Octets) > 0 {
			return nil
		}
		if m.Master {
			continue
		}
		for _, u := range listener.hear(m.Octets) {
			f, ok := u.parse()
			if !ok || u.unsolicited() {
				continue
			}
			if err := r.mirror(f.IIN); err != nil {
				return err
			}
			if timedOut(f) {
				r.until(r.now.Sub(epoch()) + selectTime)
			}
			r.cause(u)
			r.expect(u, later)
		}
	}
	return nil
}

// mirror makes indications that only a person can cause.
func (r *replay) mirror(iin app.IIN) error {
	if iin.Has(app.IINDeviceRestart) && !r.session.Restarted() {
		if err := r.start(); err != nil {
			return err
		}
		r.mux.Open(r.now, r.out)
		r.collect()
	}
	set := iin & (app.IINLocalControl | app.IINNeedTime)
	r.o.Indicate(set, app.IINLocalControl&^iin)
	return nil
}

// selectTime is longer than a selection lasts.
const selectTime = 11 * time.Second

// timedOut reports whether a command came too late after its selection, which the recorded
// times do not show.
func timedOut(f app.Fragment) bool {
	for h, err := range f.Headers() {
		if err != nil {
			return false
		}
		for o := range h.Objects() {
			kind := h.Variation.Kind()
			control := kind == object.KindBinaryCommand || kind == object.KindAnalogCommand
			if control && object.Status(o.Data[len(o.Data)-1]) == object.StatusTimeout {
				return true
			}
		}
	}
	return false
}

// expect makes events that the recorded device has but did not report yet: its next report
// of the class says what they are.
func (r *replay) expect(u utterance, later []Moment) {
	f, ok := u.parse()
	if !ok {
		return
	}
	kept := slices.Clone(r.pending)
	for _, c := range eventsOf(f) {
		kept = without(kept, c)
	}
	for bit := app.IINClass1; bit <= app.IINClass3; bit <<= 1 {
		has := slices.ContainsFunc(kept, func(c caused) bool { return c.class() == bit })
		if f.IIN.Has(bit) && !has {
			r.foresee(bit, later)
		}
	}
}

// foresee makes the events of the next report of a class, or any if there is none.
func (r *replay) foresee(class app.IIN, later []Moment) {
	listener := newEar()
	for _, m := range later {
		if m.Master {
			continue
		}
		for _, u := range listener.hear(m.Octets) {
			f, ok := u.parse()
			if !ok || !slices.ContainsFunc(eventsOf(f), func(c caused) bool { return c.class() == class && !r.knows(c) }) {
				continue
			}
			r.cause(u)
			return
		}
	}
	for kind, of := range classTable {
		if of == class && kind != object.KindDoubleBitInput {
			r.make([]caused{{kind, object.Point{Value: object.Unsigned(1), Flags: object.FlagOnline, Time: object.TimestampOf(r.now)}}})
		}
	}
}

func (r *replay) knows(c caused) bool { return slices.ContainsFunc(r.pending, c.same) }

// classTable gives the classes of the recorded device.
var classTable = map[object.Kind]app.IIN{
	object.KindBinaryInput: app.IINClass1, object.KindDoubleBitInput: app.IINClass1,
	object.KindCounter: app.IINClass2, object.KindAnalogInput: app.IINClass3,
}

func (c caused) class() app.IIN { return classTable[c.kind] }

// eventsOf returns the events in a fragment.
func eventsOf(f app.Fragment) []caused {
	var all []caused
	for h, err := range f.Headers() {
		if err != nil {
			break
		}
		if !h.Variation.Event() {
			continue
		}
		for p := range h.Points() {
			all = append(all, caused{h.Variation.Kind(), p})
		}
	}
	return all
}

// without removes one event.
func without(all []caused, c caused) []caused {
	if at := slices.IndexFunc(all, c.same); at >= 0 {
		return slices.Delete(all, at, at+1)
	}
	return all
}

// cause makes the events that the recorded device reports for the first time.
func (r *replay) cause(u utterance) {
	f, ok := u.parse()
	if !ok {
		return
	}
	var fresh []caused
	known := slices.Clone(r.pending)
	for _, c := range eventsOf(f) {
		if at := slices.IndexFunc(known, c.same); at >= 0 {
			known = slices.Delete(known, at, at+1)
			continue
		}
		if c.point.Time.Quality == object.TimeNone {
			c.point.Time = object.TimestampOf(r.now)
		}
		fresh = append(fresh, c)
	}
	r.make(fresh)
}

// make makes events.
func (r *replay) make(fresh []caused) {
	if len(fresh) == 0 {
		return
	}
	r.pending = append(r.pending, fresh...)
	r.o.Update(func(tx *outstation.Tx) {
		for _, c := range fresh {
			tx.Set(c.kind, c.point, outstation.Force)
		}
	})
	r.mux.Tick(r.now, r.out)
	r.collect()
}

// same reports whether two events are one, reported twice.
func (c caused) same(other caused) bool {
	return c.kind == other.kind && c.point.Index == other.point.Index && c.point.Value == other.point.Value
}

// compare ends a turn.
func (r *replay) compare() {
	recorded, ours := r.repeats[0].drop(spellAll(r.recorded)), r.repeats[1].drop(spellAll(r.said))
	if !slices.Equal(recorded, ours) {
		r.differences = append(r.differences, Difference{At: r.askedAt, Asked: r.asked, Recorded: recorded, Ours: ours})
	}
	r.recorded, r.said, r.asked = nil, nil, ""
}

// spellAll spells utterances; how often a report is repeated depends on the time, which is
// not recorded well enough to be compared.
func spellAll(all []utterance) []string {
	var text []string
	for _, u := range all {
		text = append(text, u.String())
	}
	return text
}

// repeats drops reports that are said again.
type repeats struct{ last string }

func (r *repeats) drop(all []string) []string {
	return slices.DeleteFunc(all, func(text string) bool {
		if !strings.HasPrefix(text, app.FuncUnsolicitedResponse.String()) {
			return false
		}
		again := text == r.last
		r.last = text
		return again
	})
}
