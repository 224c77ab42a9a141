// Package shape turns what parts of the node answer into the shapes of package answer, for everybody
// who shows them: HTTP and the bus answer alike.
package shape

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"voltbus/api/answer"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
	"voltbus/wire"
)

// Point describes a point.
func Point(p *point.Info) answer.Point {
	tags := p.Tags
	if tags == nil {
		tags = map[string]string{}
	}
	return answer.Point{
		Path: string(p.Path), Kind: p.Kind.String(), Unit: p.Unit, Description: p.Description,
		Writable: p.Writable, Device: string(p.Device), Interval: p.Interval.Seconds(), Tags: tags,
	}
}

// AppendSample appends an answer.Sample as JSON.
func AppendSample(dst []byte, s *point.Sample) []byte {
	dst = append(dst, `{"point":`...)
	dst = point.AppendQuoted(dst, s.Point)
	dst = append(dst, `,"time":`...)
	dst = wire.AppendTime(dst, s.Time)
	dst = append(dst, `,"value":`...)
	dst = s.Value.AppendJSON(dst)
	dst = append(dst, `,"kind":`...)
	dst = point.AppendQuoted(dst, s.Value.Kind().String())
	dst = append(dst, `,"quality":`...)
	dst = point.AppendQuoted(dst, s.Quality.String())
	return append(dst, '}')
}

// AppendSeriesHead appends the beginning of an answer.Series as JSON, up to its samples.
func AppendSeriesHead(dst []byte, s *query.Series) []byte {
	dst = append(dst, `{"point":`...)
	dst = point.AppendQuoted(dst, s.Info.Path)
	dst = append(dst, `,"unit":`...)
	dst = point.AppendQuoted(dst, s.Info.Unit)
	dst = append(dst, `,"kind":`...)
	dst = point.AppendQuoted(dst, s.Info.Kind.String())
	return append(dst, ',')
}

// AppendSeriesTail appends the rest of an answer.Series, behind its samples.
func AppendSeriesTail(dst []byte, s *query.Series) []byte {
	dst = append(dst, `,"expected":`...)
	if s.Coverage.Known {
		dst = strconv.AppendInt(dst, s.Coverage.Expected, 10)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"present":`...)
	dst = strconv.AppendInt(dst, s.Coverage.Present, 10)
	dst = append(dst, `,"bad":`...)
	dst = strconv.AppendInt(dst, s.Coverage.Bad, 10)
	if s.Truncated {
		dst = append(dst, `,"truncated":true`...)
	}
	return append(dst, '}')
}

// AppendEnd appends the end of an answer.Range, behind its series, but for the last brace.
func AppendEnd(dst []byte, a *query.Answer) []byte {
	dst = append(dst, `],"completeness":`...)
	if ratio, known := a.Total.Ratio(); known {
		dst = strconv.AppendFloat(dst, ratio, 'f', -1, 64)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"from":`...)
	dst = wire.AppendTime(dst, a.From)
	dst = append(dst, `,"to":`...)
	return wire.AppendTime(dst, a.To)
}

// AppendSources appends the sources of an answer as its last field; nothing if there are none.
func AppendSources(dst []byte, list []query.Source) []byte {
	if len(list) == 0 {
		return dst
	}
	text, err := json.Marshal(list)
	if err != nil { // texts, times and numbers are always written
		return dst
	}
	return append(append(dst, `,"sources":`...), text...)
}

// Aggregate is an answer in steps.
func Aggregate(a *query.Summaries) answer.Aggregate {
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
	return out
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
			b.Values[string(functions[j])] = Figure(v)
		}
	}
	return out
}

func bucket(b *store.Bucket) answer.Bucket {
	out := answer.Bucket{Start: b.Start.UTC().Truncate(time.Microsecond), Count: b.Count, Bad: b.Bad}
	if b.MinTime.IsZero() { // no numbers in it
		return out
	}
	out.Mean, out.Min, out.Max = Figure(b.Mean), Figure(b.Min), Figure(b.Max)
	out.Sum, out.First, out.Last = Figure(b.Sum), Figure(b.First), Figure(b.Last)
	return out
}

// Figure returns the number, or nil if JSON cannot write it.
func Figure(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}
