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

// mostAsked bounds the requests for points that never came: of a device that refuses each, what is left counts as not given.
const mostAsked = 1000

var _ driver.Lacking = (*session)(nil)

// search is what a session that makes no reads knows of the points that never came. Guarded by the collector's mu.
type search struct {
	of     *collector
	begun  bool      // a read of everything has ended: what the device has must have come
	asking bool      // what did not come is asked for by itself
	known  bool      // that has ended, too
	asked  time.Time // when that began last
	ended  bool      // the session is closed
	say    bool      // the points that did not come are to be reported as bad
	stale  bool      // what came since may have changed why
	why    error
}

// integrityName is how the association calls the read of everything that it makes by itself.
var integrityName = master.ReadClasses(app.Integrity).String() //nolint:gochecknoglobals // never changed

// allRead notes that a read of everything has ended.
func (f *search) allRead() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.begun && time.Since(f.asked) >= retryAbsent {
		f.known = false
	}
	f.begun, f.stale, f.say = true, true, f.known
	f.of.tell()
}

// seen notes what changes the answer to which points have no value. It is called before a sample is kept.
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

// absent returns a bad sample for each point that never came, if that is to be reported.
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

// Lacks implements driver.Lacking. What a read of everything did not bring is asked for by itself, as a device may leave
// points out of class 0.
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

// lacks says which points never came, or have no value since the device restarted.
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

// seek makes requests for points one after the other, without waiting for them: the goroutine that serves the connection goes
// on with the next. What is refused is asked for in halves, as in fetch.
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

// sought notes that nothing more is asked for; with an error, that it is not known what the device has.
func (f *search) sought(err error) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.asking = false
	if err != nil {
		f.begun = false // until everything is read again
		return
	}
	f.known, f.stale, f.say = true, true, true
	f.of.tell()
}

// close has nothing more asked for.
func (f *search) close() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.ended = true
}
