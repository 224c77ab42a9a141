package federation

import (
	"slices"

	"voltbus/point"
	"voltbus/store/overlay"
)

// room is how much more of an answer may be kept.
type room struct {
	samples int
	texts   int // bytes of strings
}

// take reserves room for samples; false if there is none.
func (r *room) take(list []point.Sample) bool {
	r.samples -= len(list)
	r.texts -= textSize(list)
	return r.samples >= 0 && r.texts >= 0
}

// bytes returns the total length of the strings.
func textSize(list []point.Sample) (n int) {
	for i := range list {
		n += len(list[i].Value.Text())
	}
	return n
}

// pruning bounds what is kept of a log while it is read: exceeding one answer ends the reading, since the
// parent then asks for less. With a limit only that many per point are kept.
type pruning struct {
	limit  int // per point; 0 for all
	newest bool
	kept   room // how much is kept
}

// pruning returns how the log is read for a query.
func (m *missing) pruning() *pruning {
	p := &pruning{}
	even := !slices.ContainsFunc(m.q.Points, func(w Wanted) bool { return w.From != m.q.Points[0].From })
	if m.bounded && even && m.q.Before == 0 {
		p.limit, p.newest = m.q.Limit+1, m.q.Newest // one more reveals that there are more
	}
	return p
}

// least is the number of samples of a point from which they are pruned.
const least = 256

// prune takes the samples of a point, the last of which is new, and returns those that may be relevant.
func (p *pruning) prune(list []point.Sample) []point.Sample {
	if p == nil {
		return list
	}
	last := list[len(list)-1:]
	p.kept.samples++
	p.kept.texts += textSize(last)
	if p.limit == 0 || len(list) < max(2*p.limit, least) {
		return list
	}
	p.kept.samples -= len(list)
	p.kept.texts -= textSize(list)
	list = overlay.Order(list)
	if n := len(list) - p.limit; n > 0 && p.newest {
		list = append(list[:0], list[n:]...)
	} else if n > 0 {
		list = list[:p.limit]
	}
	p.kept.samples += len(list)
	p.kept.texts += textSize(list)
	return list
}

// check reports with errLarge that too much is kept.
func (p *pruning) check() error {
	if p == nil {
		return nil
	}
	samples, texts := maxSamples, maxTexts
	if p.limit > 0 { // until they are pruned
		samples, texts = 2*maxSamples, 2*maxTexts
	}
	if p.kept.samples > samples || p.kept.texts > texts {
		return errLarge
	}
	return nil
}
