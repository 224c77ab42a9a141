package experiment

import (
	"fmt"
	"math"
	"slices"
)

// judge sets every case beside what was published and beside the peers, and says it in words.
func (r *Result) judge(published []Published) {
	for i := range r.Cases {
		r.Cases[i].summarise()
	}
	for i := range r.Cases {
		if m := &r.Cases[i]; m.Subject == Own {
			r.compare(m, published)
		}
	}
	r.Verdict = append(r.Verdict, r.against()...)
	r.Verdict = append(r.Verdict, r.accounts()...)
	r.Verdict = append(r.Verdict, r.generators()...)
}

// compare fills in a case's row of the published table, and the ratios.
func (r *Result) compare(m *Measured, published []Published) {
	for _, peer := range r.Cases {
		if peer.Subject != Own && peer.Case.Name == m.Case.Name {
			m.ratio(r.Metric, Figure{peer.Subject, peer.Median}, true)
		}
	}
	i := slices.IndexFunc(published, func(p Published) bool { return p.Case.Name == m.Case.Name })
	if i < 0 {
		return
	}
	m.Published = notNil(published[i].Figures)
	if m.Peer = published[i].Peer; m.Peer != nil {
		m.ratio(r.Metric, *m.Peer, false)
	}
	for _, f := range m.Published {
		m.ratio(r.Metric, f, false)
	}
}

func (m *Measured) ratio(metric Metric, other Figure, sameRun bool) {
	times := other.Value / m.Median
	if metric.Higher {
		times = m.Median / other.Value
	}
	if math.IsNaN(times) || math.IsInf(times, 0) || times <= 0 {
		return
	}
	m.Ratios = append(m.Ratios, Ratio{Against: other.Label, Times: times, SameRun: sameRun})
}

// against says the range of the ratios against each other subject.
func (r *Result) against() []string {
	type span struct {
		name         string
		same         bool
		least, most  float64
		better, rows int
	}
	var spans []*span
	for _, m := range r.Cases {
		for _, ratio := range m.Ratios {
			i := slices.IndexFunc(spans, func(s *span) bool { return s.name == ratio.Against && s.same == ratio.SameRun })
			if i < 0 {
				i = len(spans)
				spans = append(spans, &span{name: ratio.Against, same: ratio.SameRun, least: ratio.Times, most: ratio.Times})
			}
			s := spans[i]
			s.least, s.most = min(s.least, ratio.Times), max(s.most, ratio.Times)
			s.rows++
			if ratio.Times > 1 {
				s.better++
			}
		}
	}
	var words []string
	for _, s := range spans {
		how := "measured elsewhere, so this is context and no comparison"
		if s.same {
			how = "side by side in this run"
		}
		words = append(words, fmt.Sprintf("Against %s: better in %d of %d cases, %s to %s times (%s).",
			s.name, s.better, s.rows, Round(s.least), Round(s.most), how))
	}
	return words
}

// accounts says whether anything was lost.
func (r *Result) accounts() []string {
	var words []string
	for _, m := range r.Cases {
		if m.Account != nil {
			words = append(words, fmt.Sprintf("%s, %s: %s", m.Subject, m.Case.Name, m.Account.Words()))
		}
	}
	return words
}

// generators says where the load generator was the bottleneck.
func (r *Result) generators() []string {
	var words []string
	for _, m := range r.Cases {
		if m.Generator != nil && !m.Generator.Kept() {
			words = append(words, fmt.Sprintf("%s, %s: %s", m.Subject, m.Case.Name, m.Generator.Words()))
		}
	}
	return words
}

// Round writes a figure with three significant digits.
func Round(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprint(v)
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return fmt.Sprintf("%.*f", digits, v)
}
