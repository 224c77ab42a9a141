// Package shape converts results of the node's parts into the types of package answer, so that HTTP and the bus give the same answers.
package shape

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

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

// AppendSeriesHead appends an answer.Series up to its samples.
func AppendSeriesHead(dst []byte, s *query.Series) []byte {
	dst = append(dst, `{"point":`...)
	dst = point.AppendQuoted(dst, s.Info.Path)
	dst = append(dst, `,"unit":`...)
	dst = point.AppendQuoted(dst, s.Info.Unit)
	dst = append(dst, `,"kind":`...)
	dst = point.AppendQuoted(dst, s.Info.Kind.String())
	return append(dst, ',')
}

// AppendSeriesTail appends the rest of an answer.Series, after its samples.
func AppendSeriesTail(dst []byte, s *query.Series) []byte {
	dst = append(dst, `,"expected":`...)
	if s.Coverage.Known {
		dst = strconv.AppendInt(dst, s.Coverage.Expected, 10)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"present":`...)
	dst = strconv.AppendInt(dst, s.Coverage.Present, 10)
	dst = append(dst, `,"extra":`...)
	dst = strconv.AppendInt(dst, s.Coverage.Extra, 10)
	dst = append(dst, `,"bad":`...)
	dst = strconv.AppendInt(dst, s.Coverage.Bad, 10)
	if s.Truncated {
		dst = append(dst, `,"truncated":true`...)
	}
	return append(dst, '}')
}

// AppendEnd appends the end of an answer.Range, after its series, without the last brace.
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
	if err != nil { // strings, times and numbers can always be encoded
		return dst
	}
	return append(append(dst, `,"sources":`...), text...)
}

// maxLine is the maximum length of a header.
const maxLine = 4000

// SourcesLine returns the sources as ASCII JSON, for a header: as many as fit, but at least one, first
// those whose data is missing. "" if there are none.
func SourcesLine(list []query.Source) string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b query.Source) int {
		return cmp.Compare(whole(&a), whole(&b))
	})
	for ; len(list) > 0; list = list[:len(list)-1] {
		text, err := json.Marshal(sources(list))
		if err != nil { // strings, times and numbers can always be encoded
			return ""
		}
		if line := ascii(text); len(line) <= maxLine || len(list) == 1 {
			return line
		}
	}
	return ""
}

func whole(s *query.Source) int {
	if s.Whole() {
		return 1
	}
	return 0
}

// ascii escapes what may not stand in a header.
func ascii(text []byte) string {
	var out strings.Builder
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}

func sources(list []query.Source) []answer.Source {
	out := make([]answer.Source, len(list))
	for i := range list {
		out[i] = answer.Source(list[i])
	}
	return out
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
	if len(a.Sources) > 0 {
		out.Sources = sources(a.Sources)
	}
	for i := range a.Series {
		out.Series[i] = summary(&a.Series[i], a.Functions)
	}
	return out
}

func summary(s *query.Summary, functions []query.Function) answer.Summary {
	out := answer.Summary{
		Point: string(s.Info.Path), Unit: s.Info.Unit, Present: s.Coverage.Present, Extra: s.Coverage.Extra, Bad: s.Coverage.Bad,
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
	if b.MinTime.IsZero() { // it has no numbers
		return out
	}
	out.Mean, out.Min, out.Max = Figure(b.Mean), Figure(b.Min), Figure(b.Max)
	out.Sum, out.First, out.Last = Figure(b.Sum), Figure(b.First), Figure(b.Last)
	return out
}

// Figure returns the number, or nil if JSON cannot represent it.
func Figure(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}
