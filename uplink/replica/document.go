package replica

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"
)

// parts is the content of a document.
type parts map[string]json.RawMessage

// record is the document of a node, with what its parent is to be sent of it.
type record struct {
	name    string // as this node calls it; "" for this node
	parts   parts  // as the node, or the child on the way to it, sent them
	own     parts  // those that this node says of it, which count more
	size    int    // bytes of parts
	origins int    // parts about origins
	version uint64 // of parts, as the child counts
	offered uint64 // the round of offers in which it was named last
	node    Node   // where it stands, its path from the child on
	why     string // it is not let in; "" for one that is

	heard time.Time     // when the node itself reported
	kept  bool          // nothing was heard of it in this run
	skew  time.Duration // of a child: its clock less this node's

	sent  uint64          // the version that the parent has
	dirty map[string]bool // parts that changed since
	fresh bool            // it was heard of since
}

func newRecord(name string) *record {
	return &record{name: name, parts: parts{}, own: parts{}, dirty: map[string]bool{}}
}

// value returns a part as it counts here.
func (r *record) value(part string) (json.RawMessage, bool) {
	if v, has := r.own[part]; has {
		return v, true
	}
	v, has := r.parts[part]
	return v, has
}

// each yields the parts as they count here.
func (r *record) each(yield func(part string, value json.RawMessage)) {
	for name, value := range r.parts {
		if _, mine := r.own[name]; !mine {
			yield(name, value)
		}
	}
	for name, value := range r.own {
		yield(name, value)
	}
}

func digestOf(part string, value json.RawMessage) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, part) // to memory, as below
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(value)
	return h.Sum64()
}

// digest returns that of the parts as the parent is to have them. It does not depend on their order, and is not 0.
func (r *record) digest() uint64 {
	var sum uint64
	r.each(func(part string, value json.RawMessage) { sum += digestOf(part, value) })
	return max(sum, 1)
}

// received returns the digest of the parts as they came, and those of each.
func (r *record) received() (sum uint64, each map[string]uint64) {
	each = make(map[string]uint64, len(r.parts))
	for part, value := range r.parts {
		d := digestOf(part, value)
		each[part], sum = d, sum+d
	}
	return max(sum, 1), each
}

// judge checks whether parts may be added.
func (r *record) judge(in parts) error {
	origins, facts := r.origins, len(r.parts)-r.origins
	for name, value := range in {
		more := 1
		if _, has := r.parts[name]; has == (string(value) != absent) {
			continue
		} else if has {
			more = -1
		}
		if strings.HasPrefix(name, originPart) {
			origins += more
		} else {
			facts += more
		}
	}
	if origins > maxOrigins || facts > maxFacts {
		return errLong
	}
	return nil
}

// merge takes parts; those that are null go. It reports whether the node stands elsewhere now.
func (r *record) merge(in parts) (moved bool) {
	for name, value := range in {
		old, had := r.parts[name]
		gone := string(value) == absent
		if (gone && !had) || (!gone && had && bytes.Equal(old, value)) {
			continue
		}
		if had {
			r.size -= len(name) + len(old) + partOverhead
		}
		if gone {
			delete(r.parts, name)
		} else {
			r.parts[strings.Clone(name)] = slices.Clone(value)
			r.size += len(name) + len(value) + partOverhead
		}
		if strings.HasPrefix(name, originPart) && had == gone {
			r.origins += map[bool]int{true: -1, false: 1}[gone]
		}
		moved = moved || name == nodePart
		if _, mine := r.own[name]; !mine {
			r.changed(name)
		}
	}
	return moved
}

// changed notes that the parent is to be sent a part. If that were more than the document has, both are to compare
// what they have instead: the version is one that the parent does not know.
func (r *record) changed(part string) {
	if r.dirty[part] = true; len(r.dirty) > len(r.parts)+2*maxFacts {
		clear(r.dirty)
		r.sent, r.fresh = r.sent+1, true
	}
}

// size is about how much memory parts take.
func (p parts) size() (n int) {
	for name, value := range p {
		n += len(name) + len(value) + partOverhead
	}
	return n
}

// without returns parts, and null for those of a kind that are not there.
func (r *record) without(in parts, kind func(part string) bool) parts {
	all := make(parts, len(in))
	for name := range r.parts {
		if kind(name) {
			all[name] = json.RawMessage(absent)
		}
	}
	for name, value := range in {
		if fits(name, len(value)) {
			all[name] = value
		}
	}
	return all
}

// say notes what this node says of a part; nil for nothing.
func (r *record) say(part string, value json.RawMessage) {
	old, had := r.own[part]
	switch {
	case value == nil && had:
		delete(r.own, part)
	case value == nil || bytes.Equal(old, value):
		return
	default:
		r.own[part] = value
	}
	r.fresh = true
	r.changed(part)
}

// status reads the facts as they count here.
func (r *record) status() Status {
	if len(r.own) == 0 {
		return r.parts.status()
	}
	all := make(parts, len(r.parts)+1)
	r.each(func(part string, value json.RawMessage) { all[part] = value })
	return all.status()
}

// differs marks what the parent has otherwise, by the digests of its parts.
func (r *record) differs(there map[string]uint64) {
	clear(r.dirty)
	mine := map[string]bool{}
	r.each(func(part string, value json.RawMessage) {
		mine[part] = true
		if d, has := there[part]; !has || d != digestOf(part, value) {
			r.dirty[part] = true
		}
	})
	for part := range there {
		if !mine[part] {
			r.dirty[part] = true
		}
	}
	r.fresh = true
}

// offer is how the document is compared. The parent asks for what it has otherwise.
func (r *record) offer(now time.Time) Entry {
	clear(r.dirty)
	r.fresh = false
	e := r.head(now)
	e.Version, e.Digest = r.sent, r.digest()
	return e
}

func (r *record) head(now time.Time) Entry {
	e := Entry{Node: r.name}
	switch {
	case r.name == "":
	case r.heard.IsZero():
		e.Age = -1
	default:
		e.Age = max(0, now.Sub(r.heard).Milliseconds())
	}
	return e
}

// delta returns what the parent is sent next: as many of the changed parts as fit, at least one. They count as sent.
func (r *record) delta(now time.Time, most int) (e Entry, size int) {
	e = r.head(now)
	e.Base, e.Version, e.Parts = r.sent, r.sent, parts{}
	for part := range r.dirty {
		if size > most {
			break
		}
		value, has := r.value(part)
		if !has {
			value = json.RawMessage(absent)
		}
		e.Parts[part] = slices.Clone(value)
		size += len(part) + len(value) + partOverhead
		delete(r.dirty, part)
	}
	if len(e.Parts) > 0 {
		e.Version++
		r.sent = e.Version
	}
	r.fresh = len(r.dirty) > 0
	return e, size
}
