package dnp3

import (
	"errors"
	"time"

	"voltbus/driver"
	"voltbus/driver/dnp3/pointlist"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
)

// mostAsked bounds the requests for points that never came: if a device refuses each of them, the rest counts as absent.
const mostAsked = 1000

var _ driver.Lacking = (*session)(nil)

// search tracks, for a session that makes no reads, the points that never came. It is guarded by the collector's mu.
type search struct {
	of     *collector
	begun  bool      // a read of everything has ended: all points of the device must have come
	asking bool      // missing points are being requested individually
	known  bool      // that has also ended
	asked  time.Time // when that last began
	ended  bool      // the session is closed
	say    bool      // report missing points as bad
	stale  bool      // later data may have changed the reason
	why    error
}

// integrityName is the association's name for the read of everything that it makes on its own.
var integrityName = master.ReadClasses(app.Integrity).String() //nolint:gochecknoglobals // never changed

// allRead records that a read of everything has ended.
func (f *search) allRead() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.begun && time.Since(f.asked) >= retryAbsent {
		f.known = false
	}
	f.begun, f.stale, f.say = true, true, f.known
	f.of.tell()
}

// seen records changes in the set of points without a value. It is called before a sample is stored.
func (f *search) seen(n *present, s *point.Sample) {
	if n.sample.Time.IsZero() || (n.sample.Quality == point.BadStale) != (s.Quality == point.BadStale) {
		f.stale = true
	}
}

// never returns the items that never came.
func (f *search) never() []int {
	var list []int
	for i := range f.of.now {
		if f.of.now[i].sample.Time.IsZero() {
			list = append(list, i)
		}
	}
	return list
}

// absent returns a bad sample for each point that never came, if that should be reported.
func (f *search) absent() []point.Sample {
	if !f.say {
		return nil
	}
	f.say = false
	now := time.Now().UTC().Truncate(time.Microsecond)
	var list []point.Sample
	for _, i := range f.never() {
		list = append(list, point.Sample{Point: f.of.items[i].Path, Time: now, Quality: point.BadConfig})
	}
	return list
}

// Lacks implements driver.Lacking. Points missing from a read of everything are requested individually, as a device may
// exclude points from class 0.
func (n *session) Lacks() (known bool, why error) {
	k, f := n.values, &n.values.search
	k.mu.Lock()
	if !f.begun || f.asking {
		k.mu.Unlock()
		return false, nil
	}
	if missing := f.never(); !f.known && len(missing) > 0 {
		f.asking, f.asked = true, time.Now()
		k.mu.Unlock()
		f.seek(n.station, pointlist.Plan(n.items, missing), mostAsked)
		return false, nil
	}
	defer k.mu.Unlock()
	f.known = true
	if f.stale {
		f.stale, f.why = false, f.lacks()
	}
	return true, f.why
}

// lacks reports which points never came, or have had no value since the device restarted.
func (f *search) lacks() error {
	var found pointlist.Findings
	for i := range f.of.now {
		n := &f.of.now[i]
		q := n.sample.Quality
		if n.sample.Time.IsZero() {
			q = point.BadConfig
		}
		found.Add(&f.of.items[i], q)
	}
	return found.Err(len(f.of.items))
}

// seek requests points one request after the other, without waiting for them: the goroutine that serves the connection
// continues with the next. A refused request is split in halves, as in fetch.
func (f *search) seek(at *remote, queue []pointlist.Ask, most int) {
	if len(queue) == 0 || most == 0 || f.hasEnded() {
		f.sought(nil)
		return
	}
	r, queue := queue[0], queue[1:]
	at.Submit(r.Request(f.of.items), func(_ master.Result, err error) {
		if err != nil && !errors.Is(err, master.ErrRefused) {
			f.sought(err)
			return
		}
		left := r.Without(func(i int) bool { return f.of.came(i, 0) })
		if err != nil && len(left.Members) > 1 {
			queue = append(left.Halves(f.of.items), queue...)
		}
		f.seek(at, queue, most-1)
	})
}

func (f *search) hasEnded() bool {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	return f.ended
}

// sought records that no more requests follow; with an error, that the device's points remain unknown.
func (f *search) sought(err error) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.asking = false
	if err != nil {
		f.begun = false // until the next read of everything
		return
	}
	f.known, f.stale, f.say = true, true, true
	f.of.tell()
}

// close stops the requests.
func (f *search) close() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.ended = true
}
