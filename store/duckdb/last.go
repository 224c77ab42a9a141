package duckdb

import (
	"strings"

	"voltbus/point"
	"voltbus/store"
)

// last is the newest sample of a point by time, in 24 octets and without pointers: a centre keeps one
// of each of its points. A text stands beside, in catalogue.texts.
type last struct {
	time    int64 // microseconds
	bits    uint64
	kind    point.Kind
	quality point.Quality
	known   bool
	worded  bool // a table has a text of the point; true too often does no harm
}

// overwrittenBy returns 1 if a row takes the place of a sample of its table that said something else, else 0. sameText
// says that both are the same text, or none.
func (l *last) overwrittenBy(r *row, sameText, sameTable bool) uint64 {
	same := l.kind == r.value.Kind() && l.quality == r.quality && sameText && (l.kind == point.Text || l.bits == r.value.Bits())
	if !sameTable || l.time != r.time || same {
		return 0
	}
	return 1
}

// see takes the row as the point's newest sample unless a newer one is known.
func (c *catalogue) see(id uint32, r row) {
	if l := &c.last[id]; !l.known || r.time >= l.time {
		c.take(id, r)
	}
}

// take takes the row as the point's newest sample.
func (c *catalogue) take(id uint32, r row) {
	l := &c.last[id]
	*l = last{time: r.time, bits: r.value.Bits(), kind: r.value.Kind(), quality: r.quality, known: true, worded: l.worded}
	if l.kind == point.Text {
		c.say(id, r.value.Text())
	} else {
		delete(c.texts, id)
	}
}

// say keeps the text of the point's newest sample, which may be a piece of something large.
func (c *catalogue) say(id uint32, text string) {
	if old, has := c.texts[id]; !has || old != text {
		c.texts[id] = strings.Clone(text)
	}
}

// latest returns the newest sample of a point; false if there is none.
func (c *catalogue) latest(id uint32) (row, bool) {
	l := &c.last[id]
	if !l.known {
		return row{}, false
	}
	text := ""
	if l.kind == point.Text {
		text = c.texts[id]
	}
	return row{time: l.time, value: point.ValueOf(l.kind, l.bits, text), quality: l.quality}, true
}

// drop forgets the newest samples that lie in the day.
func (c *catalogue) drop(key store.Day) {
	for id := range c.last {
		if l := &c.last[id]; l.known && store.DayOf(l.time) == key {
			*l = last{}
			delete(c.texts, uint32(id))
		}
	}
}
