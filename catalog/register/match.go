package register

import (
	"bytes"
	"strings"
	"unicode/utf8"
	"unsafe" // a million paths are compared in a search

	"voltbus/point"
)

// verdict is what is known about one of the parts of points.
type verdict uint8

const (
	open verdict = 0         // not examined yet
	no   verdict = 1         // examined, and none of the below
	has  verdict = 1<<1 | no // it contains the word or, for traits, meets all conditions
	edge verdict = 1<<2 | no // it has the part of the word on its side of the last slash
)

// needle is a word of the filter's text. It examines each part of points once.
type needle struct {
	text         string    // in lower case
	front, back  string    // the text up to and including its last slash, and after it; front is "" without one
	units        []verdict // by traits
	heads        []verdict
	tails        []verdict
	descriptions []verdict
}

func needlesOf(text string) []*needle {
	var needles []*needle
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		n := &needle{text: word}
		if at := strings.LastIndexByte(word, '/') + 1; at > 0 {
			n.front, n.back = word[:at], word[at:]
		}
		needles = append(needles, n)
	}
	return needles
}

// matcher decides which points a filter selects. It examines each part of points once. It is used under the
// register's lock.
type matcher struct {
	register *Register
	filter   *Filter
	needles  []*needle
	traits   []verdict
	names    []verdict     // tails, by the last segment of the pattern
	last     point.Pattern // the last segment of the pattern; "" if that selects everything
	parent   point.Pattern // the segment before it, likewise
	path     []byte        // of one point; reused
	lower    []byte        // reused
}

func newMatcher(r *Register, f *Filter) *matcher {
	m := &matcher{register: r, filter: f, needles: needlesOf(f.Text)}
	if at := strings.LastIndexByte(string(f.Pattern), '/') + 1; f.Pattern[at:] != "**" && strings.Contains(string(f.Pattern), "*") {
		m.last = f.Pattern[at:]
		before := strings.TrimSuffix(string(f.Pattern[:at]), "/")
		if s := before[strings.LastIndexByte(before, '/')+1:]; s != "*" && s != "**" {
			m.parent = point.Pattern(s)
		}
	}
	return m
}

// look returns what is known about a part, examining it the first time.
func look(known *[]verdict, n uint32, judge func() verdict) verdict {
	if grow := int(n) + 1 - len(*known); grow > 0 {
		*known = append(*known, make([]verdict, grow)...)
	}
	if (*known)[n] == open {
		(*known)[n] = judge()
	}
	return (*known)[n]
}

func (m *matcher) match(n uint32) bool {
	r, f := m.register, m.filter
	of := r.of.At(n)
	traits := look(&m.traits, of, func() verdict { return m.judge(&r.traits.list[of]) })
	if traits&has != has || (f.Device != "" && r.Device(n) != f.Device) {
		return false
	}
	for _, needle := range m.needles {
		if !m.says(needle, n, of) {
			return false
		}
	}
	if f.Pattern == "" && f.Keep == nil {
		return true
	}
	if m.last != "" && !m.ends(n) {
		return false
	}
	m.path = r.names.Append(m.path[:0], n)
	return f.Pattern.Match(point.Path(m.view())) && (f.Keep == nil || f.Keep(point.Path(m.path)))
}

// view returns the path without a copy; it lasts until the next one.
func (m *matcher) view() string { return unsafe.String(unsafe.SliceData(m.path), len(m.path)) }

// ends reports whether the last segments of the point may be those of the pattern. The part before the last segment
// is compared each time: many points differ in it.
func (m *matcher) ends(n uint32) bool {
	head, tail := m.register.names.Parts(n)
	if !m.tail(tail) {
		return false
	}
	if m.parent == "" {
		return true
	}
	before := bytes.TrimSuffix(m.register.names.Head(head), []byte{'/'})
	before = before[bytes.LastIndexByte(before, '/')+1:]
	return m.parent.Match(point.Path(unsafe.String(unsafe.SliceData(before), len(before))))
}

func (m *matcher) tail(tail uint32) bool {
	return look(&m.names, tail, func() verdict {
		name := m.register.names.Tail(tail)
		if len(name) == 0 || m.last.Match(point.Path(name)) {
			return has
		}
		return no
	})&has == has
}

// judge reports whether the traits meet the conditions.
func (m *matcher) judge(t *Traits) verdict {
	f := m.filter
	if (t.Removed != 0 && !f.Removed && !f.Only) || (t.Removed == 0 && f.Only) || (f.Unit != "" && t.Unit != f.Unit) {
		return no
	}
	tags := parseTags(t.Tags)
	for name, want := range f.Tags {
		if value, there := tags[name]; !there || (want != "" && value != want) {
			return no
		}
	}
	return has
}

// says reports whether the path, description or unit of a point contains the word; of numbers its traits.
func (m *matcher) says(w *needle, n, of uint32) bool {
	r := m.register
	head, tail := r.names.Parts(n)
	h := look(&w.heads, head, func() verdict { return w.judgeHead(m.lowered(r.names.Head(head))) })
	t := look(&w.tails, tail, func() verdict { return w.judgeTail(m.lowered(r.names.Tail(tail))) })
	if h&has == has || t&has == has || (h&edge == edge && t&edge == edge) {
		return true
	}
	word := r.description.At(n)
	if look(&w.descriptions, word, func() verdict { return w.judge(m.lowered([]byte(r.descriptions.list[word]))) })&has == has {
		return true
	}
	return look(&w.units, of, func() verdict { return w.judge(m.lowered([]byte(r.traits.list[of].Unit))) })&has == has
}

// judge reports whether a text in lower case contains the word.
func (w *needle) judge(low []byte) verdict {
	if bytes.Contains(low, []byte(w.text)) {
		return has
	}
	return no
}

func (w *needle) judgeHead(low []byte) verdict {
	v := w.judge(low)
	if w.front != "" && bytes.HasSuffix(low, []byte(w.front)) {
		v |= edge
	}
	return v
}

func (w *needle) judgeTail(low []byte) verdict {
	v := w.judge(low)
	if w.front != "" && bytes.HasPrefix(low, []byte(w.back)) {
		v |= edge
	}
	return v
}

// lowered returns the word in lower case; it lasts until the next call.
func (m *matcher) lowered(word []byte) []byte {
	upper := false
	for _, c := range word {
		if c >= utf8.RuneSelf {
			return bytes.ToLower(word)
		}
		upper = upper || ('A' <= c && c <= 'Z')
	}
	if !upper {
		return word
	}
	m.lower = append(m.lower[:0], word...)
	for i, c := range m.lower {
		if 'A' <= c && c <= 'Z' {
			m.lower[i] = c + 'a' - 'A'
		}
	}
	return m.lower
}
