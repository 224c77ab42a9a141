package receiver

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"time"

	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
)

// maxRefused bounds the origins of a lane whose refusals are remembered.
const maxRefused = 10_000

// Counts are what a child has sent since the start.
type Counts struct {
	Version  string        // version of its program, as reported
	Offset   time.Duration // its clock minus this one at the greeting, including the transmission time; 0 if not reported
	Greeted  time.Time
	Last     time.Time // when its last block was on disk
	Blocks   uint64    // on disk
	Samples  uint64    // on disk
	Bytes    uint64    // bytes of them, as received
	Repeated uint64    // samples of blocks that were already here
	Missing  uint64    // samples of blocks that the child could no longer send
	Left     uint64    // samples left out on the way
	Dropped  uint64    // frames dropped because too much was queued; they are sent again
	Refusal  error     // why an origin's blocks are refused; nil in normal operation
	Origins  map[string]uplink.Position
}

// Status returns what each child has sent since the start.
func (r *Receiver) Status() map[string]Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]Counts, len(r.counts))
	kept := r.keptByChild()
	for child, c := range r.counts {
		one := *c
		one.Origins = kept[child]
		for _, name := range []uplink.Lane{uplink.Urgent, uplink.Normal} {
			if l := r.lanes[laneKey{child, name}]; l != nil {
				for _, origin := range slices.Sorted(maps.Keys(l.refused)) {
					one.Refusal = cmp.Or(one.Refusal, l.refused[origin])
				}
			}
		}
		out[child] = one
	}
	return out
}

// keptByChild returns how far the origins of each child that has sent something are on disk. The caller holds
// mu.
func (r *Receiver) keptByChild() map[string]map[string]uplink.Position {
	out := make(map[string]map[string]uplink.Position, len(r.counts))
	for child := range r.counts {
		out[child] = map[string]uplink.Position{}
	}
	for origin, child := range r.owners {
		if o, of := r.origins[origin], out[child]; o != nil && of != nil {
			of[origin] = o.kept
		}
	}
	return out
}

// count returns the counts of a child. The caller holds mu.
func (r *Receiver) count(child string) *Counts {
	c := r.counts[child]
	if c == nil {
		c = new(Counts)
		r.counts[child] = c
	}
	return c
}

func (r *Receiver) greet(child string, h *uplink.Hello) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.count(child)
	c.Version, c.Greeted, c.Offset = h.Version, time.Now(), 0
	if !h.Time.IsZero() { // it was reported
		c.Offset = time.Until(h.Time)
	}
	for _, name := range []uplink.Lane{uplink.Urgent, uplink.Normal} {
		if l := r.lanes[laneKey{child, name}]; l != nil {
			clear(l.refused) // origins still refused are reported again
		}
	}
	r.back(child, h.Origins, c.Greeted)
}

func (r *Receiver) takenOf(origin string) uplink.Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stands(origin).taken
}

func (r *Receiver) keptOf(origin string) uplink.Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stands(origin).kept
}

// took records a block that was passed to the recorder.
func (l *lane) took(b *point.Block, to uplink.Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, c := l.position(b.Origin), l.count(l.child)
	missing := b.Before - min(b.Before, o.taken.Samples)
	c.Missing += missing
	c.Left += b.Left
	l.lacked(l.child, b.Origin, missing, b.Left)
	o.taken = to
}

func (l *lane) repeated(b *point.Block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(l.child).Repeated += uint64(b.Len())
}

// land records a block that is on disk.
func (l *lane) land(u *underway) {
	if u.octets == 0 {
		return // only an answer
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o, c := l.position(u.answer.Origin), l.count(l.child)
	c.Blocks++
	c.Samples += uint64(u.samples)
	c.Bytes += uint64(u.octets)
	c.Last = time.Now()
	delete(l.refused, u.answer.Origin)
	delete(l.said, u.answer.Origin)
	if u.answer.Sequence > o.landed.Sequence {
		o.landed = u.answer.Position
	}
	if o.landed.Sequence > o.taken.Sequence {
		o.taken = o.landed
	}
}

// keep returns up to where an origin, whose child is recorded, is on disk: that is acknowledged from now on.
func (l *lane) keep(origin string) uplink.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.origins[origin]
	if o == nil { // nothing of it was accepted
		return uplink.Position{}
	}
	if o.landed.Sequence > o.kept.Sequence {
		o.kept = o.landed
		l.arrived(l.child, origin, l.count(l.child).Last)
	}
	return o.kept
}

// lostTrack records that a block may not be on disk: the following ones will be sent again.
func (l *lane) lostTrack(origin string) uplink.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.position(origin)
	o.taken = o.landed
	return o.kept
}

// refuse reports a refused block, once for each reason.
func (l *lane) refuse(err error) {
	origin := l.block.Origin
	l.mu.Lock()
	again := l.said[origin] == err.Error()
	if len(l.said) > maxRefused {
		clear(l.refused)
		clear(l.said)
	}
	l.refused[origin], l.said[origin] = err, err.Error()
	if !again {
		l.refusals++
	}
	refusals := l.refusals
	l.mu.Unlock()
	if again {
		return
	}
	if refusals&(refusals-1) == 0 { // the first, and then at each doubling
		l.cfg.Log.Warn("block of a child is not taken", slog.String("child", l.child), slog.String("origin", origin),
			slog.Uint64("refusals", refusals), slog.Any("err", err))
	}
	l.cfg.Refused(Refusal{Child: l.child, Origin: origin, Missing: identity.MissingOf(err), Err: err})
}
