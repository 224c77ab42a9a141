// Package register holds the points of a node in memory in path order, at some thirty bytes each; it finds them by path, pattern, text,
// tag and unit. It does not access the disk.
package register

import (
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"

	"voltbus/internal/column"
	"voltbus/internal/interner"
	"voltbus/point"
)

// Entry is a point as the catalogue knows it.
type Entry struct {
	point.Info           // Default, Min and Max are not kept; Tags may be shared with other entries: do not modify them
	FirstSeen  time.Time // when it was first put here
	Removed    time.Time // when it left the configuration; zero if it exists
	Since      time.Time // when its interval last changed or it last came back; zero if never
}

// Record is the stored form of a point. Times are microseconds since 1970 UTC.
type Record struct {
	Path        string
	Device      string // "" for none
	Description string
	FirstSeen   int64
	Traits
}

// Traits are properties that many points have in common.
type Traits struct {
	Kind     point.Kind
	Writable bool
	Unit     string
	Interval int64  // microseconds; 0: unknown
	Tags     string // a JSON object of strings in the order of their names; "" for none
	Removed  int64  // when it left the configuration; 0: it exists
	Since    int64  // when its interval last changed or it came back; 0: never
	Child    string // the descendant whose point it is; "" for those of this node
}

// Register is the table. Put, Read, Count, Search, Paths and Entries are safe for concurrent use; the other
// methods are called within Read, or by the writer.
type Register struct {
	mu           sync.RWMutex
	names        *interner.Index
	of           column.Column[uint32] // by number: its traits
	device       column.Column[uint32] // by number: of devices
	description  column.Column[uint32] // by number: of descriptions
	first        column.Column[int64]  // by number: when it was first seen
	next         sequence              // by number: the number last looked up after it
	traits       set[Traits]
	devices      set[string]
	descriptions set[string]
	order        order
	present      int // existing points
	free         int // those of this node without a device
	shares       map[string]Share
	expected     int // number of points for which Expect has reserved memory
}

// New returns an empty register.
func New() *Register {
	return &Register{
		names: interner.New(), traits: newSet(Traits.clone),
		devices: newSet(strings.Clone), descriptions: newSet(strings.Clone), shares: map[string]Share{},
	}
}

// Len returns how many points were ever added. Their numbers are less than that.
func (r *Register) Len() int { return r.of.Len() }

// Read calls do while no writer is active.
func (r *Register) Read(do func()) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	do()
}

// Count returns how many points exist, and how many of them belong to no device and no child.
func (r *Register) Count() (all, free int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.present, r.free
}

// Find returns the number of a path. guess is a number that it may have, such as the one after the previous
// path's: paths recur in the order of their first appearance.
func (r *Register) Find(path string, guess uint32) (number uint32, known bool) {
	if r.names.Is(guess, path) {
		return guess, true
	}
	return r.names.Find(path)
}

// Follow is Find for paths in any order that is likely to recur: it remembers what was looked up after each
// point. before is the number of the previous path; any for the first path.
func (r *Register) Follow(path string, before uint32) (number uint32, known bool) {
	if int(before) >= r.Len() {
		return r.names.Find(path)
	}
	if guess := r.next.behind(before); r.names.Is(guess, path) {
		return guess, true
	}
	if number, known = r.names.Find(path); known {
		r.next.note(before, number)
	}
	return number, known
}

// Record returns the record of a number.
func (r *Register) Record(n uint32) Record {
	return Record{
		Path: string(r.names.Append(nil, n)), Device: r.devices.list[r.device.At(n)],
		Description: r.descriptions.list[r.description.At(n)], FirstSeen: r.first.At(n), Traits: r.traits.list[r.of.At(n)],
	}
}

// Path returns the path of a number.
func (r *Register) Path(n uint32) point.Path { return point.Path(r.names.Append(nil, n)) }

// Traits returns the traits of the point.
func (r *Register) Traits(n uint32) *Traits { return &r.traits.list[r.of.At(n)] }

// Device returns the device of the point; "" for none.
func (r *Register) Device(n uint32) point.Path { return point.Path(r.devices.list[r.device.At(n)]) }

// Entries returns the entries of the paths, in the order requested. An unknown path gives an Entry with only
// the path.
func (r *Register) Entries(paths []point.Path) []Entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	entries := make([]Entry, len(paths))
	tags, guess := map[string]map[string]string{}, uint32(0)
	for i, p := range paths {
		n, known := r.Find(string(p), guess)
		if !known {
			entries[i].Path = p
			continue
		}
		entries[i], guess = r.entry(n, tags), n+1
	}
	return entries
}

// entry returns the point of a number. Already parsed tags are reused.
func (r *Register) entry(n uint32, tags map[string]map[string]string) Entry {
	c := r.Record(n)
	known, ok := tags[c.Tags]
	if !ok {
		known = parseTags(c.Tags)
		tags[c.Tags] = known
	}
	return Entry{
		Info: point.Info{
			Path: point.Path(c.Path), Kind: c.Kind, Unit: c.Unit, Description: c.Description, Writable: c.Writable,
			Device: point.Path(c.Device), Interval: time.Duration(c.Interval) * time.Microsecond, Tags: known,
		},
		FirstSeen: moment(c.FirstSeen), Removed: moment(c.Removed), Since: moment(c.Since),
	}
}

// Maximum by which Expect reserves memory at once, which bounds the waste of a wrong estimate.
const expectTimes = 8

// Expect reserves memory for so many times the present points, when many are added one after another. It is cheap
// to call after each Put.
func (r *Register) Expect(times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.Len(); n >= r.expected {
		r.expected = n * expectTimes / 2
		r.names.Reserve(n * (min(times, expectTimes) - 1))
	}
}

// Put puts records, each path once, and returns their numbers, in the same order. Many new ones should come
// in path order.
func (r *Register) Put(records []Record) []uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	numbers := make([]uint32, len(records))
	var fresh []uint32
	guess := uint32(0)
	for i := range records {
		c := &records[i]
		n, known := guess, r.names.Is(guess, c.Path)
		if !known {
			n, known = r.names.Enter(c.Path)
		}
		if known {
			r.count(n, -1)
			if r.Traits(n).Child != "" {
				old := r.Record(n)
				r.share(&old, -1)
			}
			r.change(n, c)
		} else {
			r.add(c)
			fresh = append(fresh, n)
		}
		numbers[i], guess = n, n+1
		r.count(n, 1)
		r.share(c, 1)
	}
	r.order.add(r.names, fresh)
	return numbers
}

// add adds the data of the point numbered last.
func (r *Register) add(c *Record) {
	r.of.Append(r.traits.number(c.Traits))
	r.device.Append(r.devices.number(c.Device))
	r.description.Append(r.descriptions.number(c.Description))
	r.first.Append(c.FirstSeen)
	r.next.grow(r.Len())
}

func (r *Register) change(n uint32, c *Record) {
	of, device, description := r.of.At(n), r.device.At(n), r.description.At(n)
	r.of.Set(n, r.traits.number(c.Traits))
	r.device.Set(n, r.devices.number(c.Device))
	r.description.Set(n, r.descriptions.number(c.Description))
	r.traits.leave(of) // after the new ones, which may be the same
	r.devices.leave(device)
	r.descriptions.leave(description)
	r.first.Set(n, c.FirstSeen)
}

func (r *Register) count(n uint32, by int) {
	if r.Traits(n).Removed != 0 {
		return
	}
	r.present += by
	if r.Device(n) == "" && r.Traits(n).Child == "" {
		r.free += by
	}
}

// RecordOf returns the record of a new point.
func RecordOf(info *point.Info, tags string, now int64) Record {
	return Record{
		Path: string(info.Path), Device: string(info.Device), Description: clean(info.Description), FirstSeen: now,
		Traits: Traits{
			Kind: info.Kind, Writable: info.Writable, Unit: clean(info.Unit),
			Interval: info.Interval.Microseconds(), Tags: tags,
		},
	}
}

// Tagger encodes tags in the form of Traits. A point's tags are often those of the previous one.
type Tagger struct {
	tags map[string]string
	text string
}

// Text returns the text of the tags.
func (t *Tagger) Text(tags map[string]string) string {
	if len(tags) == 0 {
		return ""
	}
	if !maps.Equal(t.tags, tags) {
		text, _ := json.Marshal(tags) // strings, in the order of their names
		t.tags, t.text = maps.Clone(tags), string(text)
	}
	return t.text
}

func parseTags(text string) map[string]string {
	if text == "" {
		return nil
	}
	var tags map[string]string
	_ = json.Unmarshal([]byte(text), &tags) // Decode has checked it
	return tags
}

func moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
