package dnp3

import (
	"slices"
	"sync"
	"time"

	"voltbus/driver/dnp3/pointlist"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// present is the known state of a point.
type present struct {
	sample  point.Sample
	last    time.Time // time of the point's last sample
	variant uint8     // the variation in which the device gives the present value
	pass    uint64    // the last read in which the present value came in the registry's variation
	given   uint64    // the last read in which it came, possibly as an integer in place of a fractional number
	trouble uint64    // number of interruptions of reception before that
	changed bool      // it differs from the last report, and no event reported that
}

// collector keeps what a device reports for one session: the present value of each point, and the reports not
// taken yet. The goroutine that serves the connection fills it and the session empties it.
type collector struct {
	items []pointlist.Item
	byKey map[pointlist.Key]int
	clock string
	bound point.Bounds // bounds of the device's times
	most  int          // events kept

	mu      sync.Mutex
	now     []present
	events  []point.Sample
	careful bool   // events are confirmed to the device when they are kept
	arrived uint64 // events
	sure    uint64 // confirmed events, which do not come again
	before  uint64 // events before the present fragment
	taken   uint64 // events taken
	kept    uint64 // events kept
	lost    bool   // an event was dropped, or lost by the device
	missed  uint64 // number of lost events; each loss of the device counts once
	strange uint64 // events whose time is out of bounds
	full    bool   // the device reports that its buffer overflowed
	changes int    // points that changed
	pass    uint64
	trouble uint64 // number of interruptions of reception
	err     error  // why nothing is received from the device
	heard   bool   // something has been received since then
	greet   bool   // the present fragment ended an interruption
	search  search
	news    func() // called when there is something to take; nil before listen

	info master.Info // of the fragment being processed
}

func newCollector(c *Config) *collector {
	k := &collector{
		items: c.items, byKey: make(map[pointlist.Key]int, len(c.items)), clock: c.Clock, most: c.MaxEvents,
		bound: point.Bounds{Past: c.ClockBehind, Ahead: c.ClockAhead},
		now:   make([]present, len(c.items)),
	}
	k.search.of = k
	for i := range c.items {
		k.byKey[pointlist.KeyOf(c.items[i].Kind, c.items[i].Index)] = i
	}
	return k
}

// begin, header and end are called in this order for each fragment. begin reports whether reception from the device has
// resumed after an interruption.
func (k *collector) begin(i master.Info) (again bool) {
	k.mu.Lock()
	k.info = i
	again = !k.heard && k.trouble > 0
	k.err = nil
	k.heard, k.greet = true, !k.heard
	if i.Again {
		k.unsay()
	}
	k.before = k.arrived
	full := i.IIN.Has(app.IINOverflow)
	if full && !k.full {
		k.lost = true
		k.missed++
	}
	k.full = full
	return again
}

func (k *collector) end() {
	if k.greet || len(k.events) > 0 || k.changes > 0 {
		k.tell()
	}
	k.mu.Unlock()
}

// listen sets news, which is called whenever there is something to take.
func (k *collector) listen(news func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.news = news
	if k.heard || k.err != nil {
		k.tell()
	}
}

// ended records that the line delivers nothing more.
func (k *collector) ended() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tell()
}

func (k *collector) header(h app.Header) {
	kind := h.Variation.Kind()
	if kind == object.KindOctetString {
		k.texts(h)
		return
	}
	for p := range h.Points() {
		i, known := k.byKey[pointlist.KeyOf(kind, p.Index)]
		if !known {
			continue
		}
		value, quality := k.items[i].Read(p.Value, p.Flags)
		s := point.Sample{Point: k.items[i].Path, Value: value, Quality: quality}
		k.take(i, h, p.Time, s)
	}
}

// texts handles octet strings, which the library does not treat as points.
func (k *collector) texts(h app.Header) {
	for o := range h.Objects() {
		if i, known := k.byKey[pointlist.KeyOf(object.KindOctetString, o.Index)]; known {
			s := point.Sample{Point: k.items[i].Path, Value: pointlist.TextOf(o.Data), Quality: point.Good}
			k.take(i, h, object.Timestamp{}, s)
		}
	}
}

// take stores an event or a present value.
func (k *collector) take(i int, h app.Header, stamp object.Timestamp, s point.Sample) {
	received := k.info.Received.UTC().Truncate(time.Microsecond)
	n := &k.now[i]
	if h.Variation.Event() {
		k.event(n, stamp, received, s)
		return
	}
	s.Time = n.arrive(received, k.bound.Ahead)
	n.last = s.Time
	rough := k.items[i].Rough(h.Variation)
	if rough && k.items[i].Whole(n.sample.Value, s.Value) {
		s.Value = n.sample.Value
	}
	differs := n.sample.Value != s.Value || n.sample.Quality&^point.UncertainClock != s.Quality&^point.UncertainClock
	k.search.seen(n, &s)
	differs = differs || n.trouble != k.trouble // receivers told of the interruption consider the point bad
	n.sample, n.trouble = s, k.trouble
	n.given, n.variant = k.pass, h.Variation.Number()
	if !rough {
		n.pass = k.pass
	}
	if differs {
		k.change(n, true)
	}
}

// event reports an event. One older than the known state of its point is still the latest that the device
// reported: the present value is reported after it, with the time of arrival, or a slow clock would hide it.
func (k *collector) event(n *present, stamp object.Timestamp, received time.Time, s point.Sample) {
	at, quality, own := k.timed(stamp, received, s.Quality)
	if s.Time, s.Quality = at, quality; !own {
		s.Time = n.arrive(received, k.bound.Ahead)
	}
	k.report(s)
	late := s.Time.Before(n.last)
	if late {
		s.Time = n.arrive(received, k.bound.Ahead)
	}
	k.search.seen(n, &s)
	n.last, n.sample = s.Time, s
	k.change(n, late)
}

// change records whether to report a present value.
func (k *collector) change(n *present, changed bool) {
	switch {
	case changed && !n.changed:
		k.changes++
	case !changed && n.changed:
		k.changes--
	}
	n.changed = changed
}

// report stores an event; the oldest makes room for it.
func (k *collector) report(s point.Sample) {
	k.arrived++
	if len(k.events) >= k.most {
		gone := 1 + k.most/16
		k.events = k.events[:copy(k.events, k.events[gone:])]
		k.lost = true
		k.missed += uint64(gone)
	}
	k.events = append(k.events, s)
}

// fail records why reports of the device cannot be received.
func (k *collector) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err, k.heard = err, false
	k.trouble++
	k.tell()
}

// tell is called with mu held.
func (k *collector) tell() {
	if k.news != nil {
		k.news()
	}
}

// reports returns all pending reports of the wanted points, and the error that followed them. The first
// sample after a loss is uncertain.
func (k *collector) reports(wanted map[point.Path]bool) ([]point.Sample, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.events
	k.events, k.taken = nil, k.arrived
	for i := range k.now {
		if k.changes == 0 {
			break
		}
		if n := &k.now[i]; n.changed {
			all = append(all, n.sample)
			k.change(n, false)
		}
	}
	all = append(all, k.search.absent()...)
	all = slices.DeleteFunc(all, func(s point.Sample) bool { return !wanted[s.Point] })
	if k.lost && len(all) > 0 {
		k.lost = false
		if all[0].Quality.IsGood() {
			all[0].Quality = point.Uncertain
		}
	}
	err := k.err
	k.err = nil
	return all, err
}

// losses returns how many events were lost since the last call.
func (k *collector) losses() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.missed
	k.missed = 0
	return n
}

// newPass begins a read and returns its number.
func (k *collector) newPass() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pass++
	return k.pass
}

// value returns the known state of a point, and whether its present value came in or after a read; rough accepts an
// approximate value. A value returned here need not be reported.
func (k *collector) value(i int, since uint64, rough bool) (point.Sample, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := &k.now[i]
	came := n.pass
	if rough {
		came = n.given
	}
	if n.sample.Time.IsZero() || came < since {
		return point.Sample{}, false
	}
	k.change(n, false)
	return n.sample, true
}

// came reports whether a point's present value came in or after a read.
func (k *collector) came(i int, since uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.now[i].sample.Time.IsZero() && k.now[i].pass >= since
}

// variation returns the number of the variation in which a point's present value came, 0 if none
// came yet.
func (k *collector) variation(i int) uint8 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now[i].variant
}

// misdated returns how many events had a time out of bounds since the last call.
func (k *collector) misdated() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.strange
	k.strange = 0
	return n
}

// timed returns the time and the quality of an event, and whether the time is the device's own.
func (k *collector) timed(stamp object.Timestamp, received time.Time, q point.Quality) (time.Time, point.Quality, bool) {
	at, usable := stamp.Time()
	switch {
	case k.clock == clockReceived || stamp.Quality == object.TimeNone:
		return received, q, false
	case !usable || !k.bound.Hold(at, received):
		k.strange++
		return received, q.Doubtful(), false
	case k.clock == clockTrust:
		return at, q, true
	case stamp.Quality == object.TimeUnsynchronized || k.info.IIN.Has(app.IINNeedTime):
		return at, q.Doubtful(), true
	}
	return at, q, true
}

// arrive returns the time for data without a time of its own: after all previous samples of the point, even
// within one fragment, and even if the device's clock is slightly ahead of this node's. Only a clock that was
// set back goes back.
func (n *present) arrive(received time.Time, ahead time.Duration) time.Time {
	if d := n.last.Sub(received); d >= 0 && d <= ahead {
		return n.last.Add(time.Microsecond)
	}
	return received
}
