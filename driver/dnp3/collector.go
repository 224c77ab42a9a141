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

// present is what is known of a point.
type present struct {
	sample  point.Sample
	last    time.Time // that a sample of the point got
	variant uint8     // the variation number in which the device gives its present value
	pass    uint64    // the read in which the present value came last as the registry wants it
	given   uint64    // the read in which it came last, also as a whole number in place of one with a fraction
	trouble uint64    // how often the device could not be heard before that
	changed bool      // it differs from what was last reported, and no event said so
}

// collector keeps what a device says, for one session: the present value of each point, and the
// reports that nobody has taken yet. The goroutine that serves the connection fills it and the session empties it.
type collector struct {
	items []pointlist.Item
	byKey map[pointlist.Key]int
	clock string
	bound point.Bounds // of the device's times
	most  int          // events kept

	mu      sync.Mutex
	now     []present
	events  []point.Sample
	careful bool   // the device is told of events when they are kept
	arrived uint64 // events
	sure    uint64 // of them that are confirmed, and do not come again
	before  uint64 // of them before the present fragment
	taken   uint64 // of them that were taken
	kept    uint64 // of them that are kept
	lost    bool   // an event was pushed out, or lost by the device
	missed  uint64 // how many, the device's losses as one each
	strange uint64 // events whose time is out of bounds
	full    bool   // the device says that its buffer overflowed
	changes int    // points that changed
	pass    uint64
	trouble uint64 // how often the device could not be heard
	err     error  // why the device cannot be heard
	heard   bool   // something came since it could not be
	greet   bool   // that was with the present fragment
	search  search
	news    func() // called when there is something to take; nil until somebody listens

	info master.Info // of the fragment being handled
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

// begin, header and end are called in this order for each fragment. begin reports whether reports of the device are received
// again after trouble.
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

// listen has news called whenever there is something to take.
func (k *collector) listen(news func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.news = news
	if k.heard || k.err != nil {
		k.tell()
	}
}

// ended says that the line will bring nothing any more.
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

// texts takes octet strings, which are no points of the library.
func (k *collector) texts(h app.Header) {
	for o := range h.Objects() {
		if i, known := k.byKey[pointlist.KeyOf(object.KindOctetString, o.Index)]; known {
			s := point.Sample{Point: k.items[i].Path, Value: pointlist.TextOf(o.Data), Quality: point.Good}
			k.take(i, h, object.Timestamp{}, s)
		}
	}
}

// take keeps an event or a present value.
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
	differs = differs || n.trouble != k.trouble // whoever was told of trouble holds the point for bad
	n.sample, n.trouble = s, k.trouble
	n.given, n.variant = k.pass, h.Variation.Number()
	if !rough {
		n.pass = k.pass
	}
	if differs {
		k.change(n, true)
	}
}

// event reports an event. One that is older than what is known of its point is also the newest that the device
// said: the present value is reported behind it, with the time of arrival, or a late clock would hide it.
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

// change notes whether a present value is to be reported.
func (k *collector) change(n *present, changed bool) {
	switch {
	case changed && !n.changed:
		k.changes++
	case !changed && n.changed:
		k.changes--
	}
	n.changed = changed
}

// report keeps an event; the oldest makes room for it.
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

// fail notes why reports of the device cannot be received.
func (k *collector) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err, k.heard = err, false
	k.trouble++
	k.tell()
}

// tell is called under mu.
func (k *collector) tell() {
	if k.news != nil {
		k.news()
	}
}

// reports returns all that is to be reported of the wanted points, and the trouble that came behind
// it. The first sample behind a loss is uncertain.
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

// losses returns how many events were lost since it was called last.
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

// value returns what is known of a point, and whether its present value came in or after a read, rough where that will do.
// A value that is taken here need not be reported.
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

// misdated returns how many events had a time out of bounds since it was called last.
func (k *collector) misdated() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.strange
	k.strange = 0
	return n
}

// timed returns the time and the quality of an event, and whether that time is the device's own.
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

// arrive returns the time of what came at a moment without a time of its own: behind all that the point
// got before, also within one fragment, and also if the device's clock is a little ahead of this node's.
// Only a clock that was set back goes back.
func (n *present) arrive(received time.Time, ahead time.Duration) time.Time {
	if d := n.last.Sub(received); d >= 0 && d <= ahead {
		return n.last.Add(time.Microsecond)
	}
	return received
}
