package api

import (
	"math"
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/query"
	"voltbus/store"
)

func (s *server) aggregate(w http.ResponseWriter, r *request) error {
	if s.cfg.Engine == nil {
		return absent("history")
	}
	in := s.read(r)
	req, how := in.paged(), query.Aggregation{Step: in.step("1h"), Zone: in.zone(), Functions: in.functions()}
	if in.err != nil {
		return in.err
	}
	a, err := s.cfg.Engine.Aggregate(r.Context(), req, how)
	if err != nil {
		return err
	}
	out := answer.Aggregate{
		Series: make([]answer.Summary, len(a.Series)), Next: string(a.Next),
		From: a.From, To: a.To, Step: a.Step.Length().Seconds(), StepName: a.Step.String(),
	}
	if a.Zone != nil {
		out.Zone = a.Zone.String()
	}
	if ratio, known := a.Total.Ratio(); known {
		out.Completeness = &ratio
	}
	for i := range a.Series {
		out.Series[i] = summary(&a.Series[i], a.Functions)
	}
	return writeJSON(w, out)
}

func summary(s *query.Summary, functions []query.Function) answer.Summary {
	out := answer.Summary{
		Point: string(s.Info.Path), Unit: s.Info.Unit, Present: s.Coverage.Present, Bad: s.Coverage.Bad,
		Buckets: make([]answer.Bucket, len(s.Buckets)),
	}
	if s.Coverage.Known {
		out.Expected = &s.Coverage.Expected
	}
	for i := range s.Buckets {
		b := &out.Buckets[i]
		*b = bucket(&s.Buckets[i])
		b.End = s.Ends[i]
		if s.Expected != nil {
			b.Expected = &s.Expected[i]
		}
		if len(functions) == 0 {
			continue
		}
		b.Values = make(map[string]*float64, len(functions))
		for j, v := range query.Values(functions, &s.Buckets[i]) {
			b.Values[string(functions[j])] = figure(v)
		}
	}
	return out
}

func bucket(b *store.Bucket) answer.Bucket {
	out := answer.Bucket{Start: b.Start.UTC().Truncate(time.Microsecond), Count: b.Count, Bad: b.Bad}
	if b.MinTime.IsZero() { // no numbers in it
		return out
	}
	out.Mean, out.Min, out.Max = figure(b.Mean), figure(b.Min), figure(b.Max)
	out.Sum, out.First, out.Last = figure(b.Sum), figure(b.First), figure(b.Last)
	return out
}

// figure returns the number, or nil if JSON cannot write it.
func figure(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}
