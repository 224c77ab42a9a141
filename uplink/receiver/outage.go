package receiver

import (
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"voltbus/uplink"
)

// maxOutages is how many outages of a child are remembered, the newest.
const maxOutages = 20

// stoppedEvery is how often a node with children writes down that it runs: so much more than it was down is unknown
// after a kill.
const stoppedEvery = time.Minute

// maxName is how many bytes the name of an origin has that any store keeps.
const maxName = 255

// Outage is a time in which a child was not connected, and what became of what it recorded meanwhile.
type Outage struct {
	From time.Time `json:"from"` // when it was heard of last; if that is not known, when this node began to look
	// Unknown is since when nobody knows before From whether it was there, because this node did not run; zero: From
	// was seen.
	Unknown time.Time `json:"unknown,omitzero"`
	To      time.Time `json:"to"` // when it greeted again; zero: it has not yet
	// Waited is how many samples it had on disk, when it came back, that this node had not: by the
	// numbers of both. Those that were left out on the way are among them.
	Waited  uint64    `json:"waited"`
	Coming  uint64    `json:"coming"`  // of them those that are still not on disk here
	Missing uint64    `json:"missing"` // of them those that it could not send any more
	Left    uint64    `json:"left"`    // of them those that were left out on purpose
	Done    time.Time `json:"done"`    // when the last of them was on disk here; zero: not yet

	// Targets are the positions of its origins when it came back, until all is here.
	Targets map[string]uplink.Position `json:"targets,omitempty"`
}

// Keeper keeps the outages of children. It is safe for concurrent use.
type Keeper interface {
	Outages() []byte // what was written last; nil for nothing
	WriteOutages([]byte) error
}

// chronicle is what is remembered of the outages of children.
type chronicle struct {
	Stopped time.Time            `json:"stopped"` // when this node knew last who was there
	Outages map[string][]*Outage `json:"outages"` // by child, the oldest first
	Before  map[string]Outage    `json:"before"`  // what lasted when this was written, of those that have not greeted again

	away  map[string]Outage // those that last
	dirty bool

	unwritten bool // the disk did not take them the last time
}

// remember reads a chronicle; of one that cannot be read, an empty one.
func remember(kept Keeper, log *slog.Logger) *chronicle {
	c := &chronicle{}
	if kept != nil {
		if data := kept.Outages(); len(data) > 0 {
			if err := json.Unmarshal(data, c); err != nil {
				log.Warn("the outages of children are forgotten; new ones are noted", slog.Any("err", err))
				c = &chronicle{}
			}
		}
	}
	if c.Outages == nil {
		c.Outages = map[string][]*Outage{}
	}
	if c.Before == nil {
		c.Before = map[string]Outage{}
	}
	c.away = map[string]Outage{}
	return c
}

// Gone notes that a child is not connected; heard is when it last said something, zero if that is not
// known. Of a child that never sent anything nothing is noted. What was before this node ran is not known, and is
// noted as unknown, unless the child was away already when that was written down.
func (r *Receiver) Gone(child string, heard time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counts[child]
	met := r.owned[child] > 0 || (c != nil && !c.Greeted.IsZero())
	if _, is := r.outages.away[child]; is || !met {
		return
	}
	o, now := Outage{From: heard}, time.Now()
	if c != nil && c.Last.After(o.From) {
		o.From = c.Last
	}
	before, lasted := r.outages.Before[child]
	switch {
	case lasted:
		o = before
	case o.From.IsZero():
		o.From, o.Unknown = now, r.outages.Stopped
	case o.From.After(now):
		o.From = now
	}
	r.outages.away[child] = o
	r.outages.dirty = true
}

// back notes that a child greeted, with how far its origins are there. The caller holds mu.
func (r *Receiver) back(child string, there map[string]uplink.Position, now time.Time) {
	delete(r.outages.Before, child)
	lasted, was := r.outages.away[child]
	if !was {
		return
	}
	delete(r.outages.away, child)
	o := &Outage{From: lasted.From, Unknown: lasted.Unknown, To: now, Targets: map[string]uplink.Position{}}
	for origin, p := range there {
		have := r.stands(origin).kept
		if p.Sequence <= have.Sequence || len(origin) > maxName || len(o.Targets) == r.cfg.Origins {
			continue
		}
		o.Targets[origin] = p
		o.Waited += p.Samples - min(p.Samples, have.Samples)
	}
	o.Coming = o.Waited
	if len(o.Targets) == 0 {
		o.Done = now
	}
	list := append(r.outages.Outages[child], o)
	r.outages.Outages[child] = list[max(0, len(list)-maxOutages):]
	r.outages.dirty = true
}

// arrived notes how far an origin of a child came, and what of it is missing or was left out. The
// caller holds mu.
func (r *Receiver) arrived(child, origin string, now time.Time) {
	for _, o := range r.outages.Outages[child] {
		target, waits := o.Targets[origin]
		if !waits || r.stands(origin).kept.Sequence < target.Sequence {
			continue
		}
		delete(o.Targets, origin)
		if len(o.Targets) == 0 {
			o.Coming, o.Done, o.Targets = 0, now, nil
		}
		r.outages.dirty = true
	}
}

// lacked notes what a block of a child says that is missing before it, or was left out. The caller
// holds mu.
func (r *Receiver) lacked(child, origin string, missing, left uint64) {
	if missing == 0 && left == 0 {
		return
	}
	for _, o := range r.outages.Outages[child] {
		if _, waits := o.Targets[origin]; waits {
			o.Missing, o.Left = o.Missing+missing, o.Left+left
			r.outages.dirty = true
		}
	}
}

// Outages returns the outages of a child that are remembered, the newest first; one that lasts has no
// end.
func (r *Receiver) Outages(child string) []Outage {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Outage
	for _, known := range r.outages.Outages[child] {
		o := *known
		o.Coming, o.Targets = 0, nil
		for origin, target := range known.Targets {
			have := r.stands(origin).kept
			o.Coming += target.Samples - min(target.Samples, have.Samples)
		}
		list = append(list, o)
	}
	if o, is := r.outages.away[child]; is {
		list = append(list, o)
	}
	slices.Reverse(list)
	return list
}

// writeOutages writes down what changed, and forgets children that are none any more; with stop also
// until when this node ran.
func (r *Receiver) writeOutages(stop bool) {
	if r.cfg.Outages == nil {
		return
	}
	data := r.noted(stop)
	if data == nil {
		return
	}
	err := r.cfg.Outages.WriteOutages(data)
	r.mu.Lock()
	again := r.outages.unwritten
	r.outages.unwritten = err != nil
	r.outages.dirty = r.outages.dirty || err != nil
	r.mu.Unlock()
	if err != nil && !again {
		r.cfg.Log.Warn("the outages of children cannot be written down now; it is tried again, and they are known until this node stops", slog.Any("err", err))
	}
}

// noted returns what is to be written down; nil for nothing.
func (r *Receiver) noted(stop bool) []byte {
	r.mu.Lock()
	names := slices.Concat(slices.Collect(maps.Keys(r.outages.Outages)), slices.Collect(maps.Keys(r.outages.Before)))
	write := r.outages.dirty || stop || (len(r.owned) > 0 && time.Since(r.outages.Stopped) >= stoppedEvery)
	r.mu.Unlock()
	if !write {
		return nil
	}
	names = slices.DeleteFunc(names, func(child string) bool {
		_, is := r.cfg.Child(child) // without the lock: it is another's
		return is
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, child := range names {
		delete(r.outages.Outages, child)
		delete(r.outages.Before, child)
	}
	r.outages.dirty, r.outages.Stopped = false, time.Now()
	maps.Copy(r.outages.Before, r.outages.away)
	data, err := json.Marshal(r.outages)
	if err != nil { // numbers and times are always written
		return nil
	}
	return data
}
