package control

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"

	"voltbus/fault"
	"voltbus/point"
)

// answers remembers the last decisions, so that a repeat gets the first one.
type answers struct {
	most  int
	known map[ref]*answer
	ring  []ref // in the order of their making
	next  int   // the place in ring that is used next
	order uint64
	// sheets hold what is kept together: a record each. The last one is open for more until it is kept.
	sheets map[string]*sheet
	open   *sheet
}

type answer struct {
	order    uint64 // of their making
	mark     uint64 // of the request
	decision Decision
	sheet    *sheet
}

// sheet is answers that were given together. One record for all of them costs a fraction of one for each.
type sheet struct {
	key  string
	refs []ref
	left int // that are not forgotten
}

// maxSheet bounds a sheet, since a changed answer has all of it written again.
const maxSheet = 256

func newAnswers(most int) answers {
	return answers{most: most, known: make(map[ref]*answer), sheets: make(map[string]*sheet)}
}

// put remembers a decision without its effects. It returns the sheet on which it stands, and that which
// nothing stands on any more, "" if there is none.
func (a *answers) put(r ref, mark uint64, d Decision) (on, over string) {
	a.order++
	if a.open == nil || len(a.open.refs) >= maxSheet {
		a.open = a.sheet(fmt.Sprintf("%016x", a.order)) // so that they are sorted by age
	}
	d.Effects = Effects{}
	return a.open.key, a.add(r, &answer{order: a.order, mark: mark, decision: d, sheet: a.open})
}

// sheet returns the sheet with a key, which is made if absent.
func (a *answers) sheet(key string) *sheet {
	s := a.sheets[key]
	if s == nil {
		s = &sheet{key: key}
		a.sheets[key] = s
	}
	return s
}

// add puts an answer on its sheet, and forgets the oldest if there is no room. It returns the sheet of that
// if nothing stands on it any more.
func (a *answers) add(r ref, one *answer) (over string) {
	one.sheet.refs = append(one.sheet.refs, r)
	one.sheet.left++
	if len(a.ring) < a.most {
		a.ring = append(a.ring, r)
	} else {
		over = a.forget(a.ring[a.next])
		a.ring[a.next] = r
		a.next = (a.next + 1) % a.most
	}
	a.known[r] = one
	return over
}

// forget removes an answer. It returns its sheet if nothing stands on it any more.
func (a *answers) forget(r ref) string {
	s := a.known[r].sheet
	delete(a.known, r)
	if s.left--; s.left > 0 {
		return ""
	}
	delete(a.sheets, s.key)
	if a.open == s {
		a.open = nil
	}
	return s.key
}

// replace changes what a repeat gets. It returns the sheet on which that stands, "" if nobody knows it.
func (a *answers) replace(r ref, d Decision) string {
	known := a.known[r]
	if known == nil {
		return ""
	}
	d.Effects = Effects{}
	known.decision = d
	return known.sheet.key
}

// once decides a request unless it was decided before. Requests without an identifier are not
// remembered.
func (m *Model) once(r ref, mark uint64, decide func() Decision) Decision {
	if r.id == "" || r.requester == "" {
		return decide()
	}
	if known := m.answers.known[r]; known != nil {
		if known.mark != mark {
			return refuse("once", WhyReused, fault.Conflict, r.id, errors.New("this identifier stands for another request; make a new one for each"))
		}
		d := known.decision
		d.Repeat = true
		return d
	}
	d := decide()
	if len(r.id) > m.limits.Text || len(r.requester) > m.limits.Text {
		return d
	}
	m.remember(r, mark, d)
	return d
}

// remember puts a decision on a sheet.
func (m *Model) remember(r ref, mark uint64, d Decision) {
	on, over := m.answers.put(r, mark, d)
	if over != "" {
		m.touch(recordAnswers, over)
	}
	m.touch(recordAnswers, on)
}

// answerAnew changes what a repeat gets.
func (m *Model) answerAnew(r ref, d Decision) {
	if on := m.answers.replace(r, d); on != "" {
		m.touch(recordAnswers, on)
	}
}

// mark tells whether two commands with one identifier are the same.
func (c *Command) mark() uint64 {
	return fingerprint(string(c.Point), c.Task, c.Value.Kind().String(), c.Value.String(), c.Reason,
		strconv.Itoa(int(c.Level)), strconv.FormatInt(int64(c.Lease), 10))
}

// fingerprint hashes texts.
func fingerprint(texts ...string) uint64 {
	hash := fnv.New64a()
	for _, text := range texts {
		_, _ = hash.Write([]byte(text))
		_, _ = hash.Write([]byte{0})
	}
	return hash.Sum64()
}

// record writes a sheet; nil if nothing stands on it.
func (a *answers) record(key string) ([]byte, error) {
	s := a.sheets[key]
	if s == nil {
		return nil, nil
	}
	o := &point.Object{JSON: make([]byte, 0, 256*s.left)}
	for _, r := range s.refs {
		known := a.known[r]
		if known == nil || known.sheet != s {
			continue
		}
		o.JSON = append(o.JSON, "[,"[min(len(o.JSON), 1)])
		one := stateOfAnswer(r, known)
		if err := one.write(o); err != nil {
			return nil, err
		}
	}
	return append(o.JSON, ']'), nil
}
