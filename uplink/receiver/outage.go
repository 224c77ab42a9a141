package receiver

import (
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"voltbus/uplink"
)

// maxOutages is how many outages of a child are kept, the newest.
const maxOutages = 20

// stoppedEvery is how often a node with children records that it is running: after a kill, this much more than the
// downtime is unknown.
const stoppedEvery = time.Minute

// maxName is the maximum length of an origin's name in bytes that every store keeps.
const maxName = 255

// Outage is a time in which a child was not connected, and the outcome for the data it recorded during that time.
type Outage struct {
	From time.Time `json:"from"` // when it was last heard; if unknown, when this node began to watch
	// Unknown is since when, before From, its presence is unknown, because this node was not running; zero: From was
	// observed.
	Unknown time.Time `json:"unknown,omitzero"`
	To      time.Time `json:"to"` // when it reconnected; zero: not yet
	// Waited is how many samples it had on disk, when it came back, that this node did not have, by the
	// numbers of both. It includes those left out on the way.
	Waited  uint64    `json:"waited"`
	Coming  uint64    `json:"coming"`  // those still not on disk here
	Missing uint64    `json:"missing"` // those that it could no longer send
	Left    uint64    `json:"left"`    // those left out on purpose
	Done    time.Time `json:"done"`    // when the last of them reached the disk here; zero: not yet

	// Targets are the positions of its origins when it came back, until everything is here.
	Targets map[string]uplink.Position `json:"targets,omitempty"`
}

// Keeper stores the outages of children. It is safe for concurrent use.
type Keeper interface {
	Outages() []byte // what was last written; nil for nothing
	WriteOutages([]byte) error
}

// chronicle is the record of the children's outages.
type chronicle struct {
	Stopped time.Time            `json:"stopped"` // when this node last knew which children were connected
	Outages map[string][]*Outage `json:"outages"` // by child, oldest first
	Before  map[string]Outage    `json:"before"`  // ongoing outages when this was written, of children that have not reconnected

	away  map[string]Outage // ongoing ones
	dirty bool

	unwritten bool // the last attempt to write them failed
}

// remember decodes a chronicle; an unreadable one counts as empty.
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

// Gone records that a child is not connected; heard is when it was last heard, zero if unknown. Nothing is
// recorded for a child that never sent anything. The time before this node ran is recorded as unknown, unless the
// child was already away when the record was written.
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

// back records that a child has connected, and its positions of its origins. The caller holds mu.
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

// arrived records how far an origin of a child has come, and what is missing or was left out. The caller
// holds mu.
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

// lacked records what, according to a child's block, is missing before it or was left out. The caller holds
// mu.
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

// Outages returns the recorded outages of a child, newest first; an ongoing one has no end.
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

// writeOutages stores changes, and drops former children; with stop also the time until which this node ran.
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

// noted returns what to store; nil for nothing.
func (r *Receiver) noted(stop bool) []byte {
	r.mu.Lock()
	names := slices.Concat(slices.Collect(maps.Keys(r.outages.Outages)), slices.Collect(maps.Keys(r.outages.Before)))
	write := r.outages.dirty || stop || (len(r.owned) > 0 && time.Since(r.outages.Stopped) >= stoppedEvery)
	r.mu.Unlock()
	if !write {
		return nil
	}
	names = slices.DeleteFunc(names, func(child string) bool {
		_, is := r.cfg.Child(child) // called without the lock: it belongs to another part
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
	if err != nil { // numbers and times cannot fail
		return nil
	}
	return data
}
