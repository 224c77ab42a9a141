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

// record is the document of a node, with the state of sending it to the parent.
type record struct {
	name    string // this node's name for it; "" for this node
	parts   parts  // as sent by the node, or by the child on the way to it
	own     parts  // those stated by this node, which take precedence
	size    int    // bytes of parts
	origins int    // parts about origins
	version uint64 // of parts, as counted by the child
	offered uint64 // the last round of offers that included it
	node    Node   // its position, with the path starting at the child
	why     string // why it is not admitted; "" if it is

	heard time.Time     // when the node itself reported
	kept  bool          // it has not reported in this run
	skew  time.Duration // for a child: its clock minus this node's

	sent  uint64          // the version that the parent has
	dirty map[string]bool // parts that changed since
	fresh bool            // it has reported since
}

func newRecord(name string) *record {
	return &record{name: name, parts: parts{}, own: parts{}, dirty: map[string]bool{}}
}

// value returns the effective value of a part.
func (r *record) value(part string) (json.RawMessage, bool) {
	if v, has := r.own[part]; has {
		return v, true
	}
	v, has := r.parts[part]
	return v, has
}

// each yields the effective parts.
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

// digest returns the digest of the parts in the form for the parent. It does not depend on their order, and is not 0.
func (r *record) digest() uint64 {
	var sum uint64
	r.each(func(part string, value json.RawMessage) { sum += digestOf(part, value) })
	return max(sum, 1)
}

// received returns the digest of the parts as received, and that of each part.
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

// merge merges parts; null removes a part. It reports whether the node's position has changed.
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

// changed marks a part for sending to the parent. If that would be more than the document contains, both compare
// what they have instead: the version is then one unknown to the parent.
func (r *record) changed(part string) {
	if r.dirty[part] = true; len(r.dirty) > len(r.parts)+2*maxFacts {
		clear(r.dirty)
		r.sent, r.fresh = r.sent+1, true
	}
}

// size is the approximate memory of parts.
func (p parts) size() (n int) {
	for name, value := range p {
		n += len(name) + len(value) + partOverhead
	}
	return n
}

// without returns parts, and null for the absent ones of a kind.
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

// say sets this node's own value of a part; nil for none.
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

// status decodes the effective facts.
func (r *record) status() Status {
	if len(r.own) == 0 {
		return r.parts.status()
	}
	all := make(parts, len(r.parts)+1)
	r.each(func(part string, value json.RawMessage) { all[part] = value })
	return all.status()
}

// differs marks the parts that differ at the parent, by their digests.
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

// offer returns the entry for comparing the document. The parent requests what differs.
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

// delta returns what to send to the parent next: as many of the changed parts as fit, at least one. They then count as sent.
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
