package control

import (
	"errors"
	"hash/fnv"
	"strconv"

	"voltbus/fault"
)

// answers remembers the last decisions, so that a repeat gets the first one.
type answers struct {
	most  int
	known map[ref]*answer
	ring  []ref // in the order of their making
	next  int   // the place in ring that is used next
	order uint64
}

type answer struct {
	order    uint64 // of their making
	mark     uint64 // of the request
	decision Decision
}

func newAnswers(most int) answers {
	return answers{most: most, known: make(map[ref]*answer)}
}

// put remembers a decision without its effects. It returns the request that is forgotten for it.
func (a *answers) put(r ref, mark uint64, d Decision) (old ref, forgot bool) {
	d.Effects = Effects{}
	if len(a.ring) < a.most {
		a.ring = append(a.ring, r)
	} else {
		old, forgot = a.ring[a.next], true
		delete(a.known, old)
		a.ring[a.next] = r
		a.next = (a.next + 1) % a.most
	}
	a.order++
	a.known[r] = &answer{order: a.order, mark: mark, decision: d}
	return old, forgot
}

// replace changes what a repeat gets.
func (a *answers) replace(r ref, d Decision) {
	if known := a.known[r]; known != nil {
		d.Effects = Effects{}
		known.decision = d
	}
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
	if old, forgot := m.answers.put(r, mark, d); forgot {
		m.touch(recordAnswer, keyOf(old.requester, old.id))
	}
	m.touch(recordAnswer, keyOf(r.requester, r.id))
	return d
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
