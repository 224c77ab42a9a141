package history

import (
	"slices"
	"strconv"

	"voltbus/api/answer"
	"voltbus/api/shape"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/query"
)

// mostGrown is the largest number of samples for which memory is reserved at once.
const mostGrown = 1000

func writeLatest(out *operation.Output, n *query.Newest) error {
	out.Buf = slices.Grow(out.Buf, 128*min(len(n.Samples)+1, mostGrown))
	out.Buf = append(out.Buf, `{"samples":[`...)
	for i := range n.Samples {
		if i > 0 {
			out.Buf = append(out.Buf, ',')
		}
		out.Buf = shape.AppendSample(out.Buf, &n.Samples[i])
		if err := out.Spill(); err != nil {
			return err
		}
	}
	out.Buf = shape.AppendSources(append(out.Buf, ']'), n.Sources)
	out.Buf = append(out.Buf, '}')
	return nil
}

// seriesForm is the format of an answer with series.
type seriesForm struct {
	plot    bool // an answer.Plot, not an answer.Range
	columns bool // with columns instead of tuples
}

// writeSeries writes an answer piece by piece.
func writeSeries(out *operation.Output, a *query.Answer, form seriesForm) error {
	out.Buf = append(out.Buf, `{"series":[`...)
	for i := range a.Series {
		if i > 0 {
			out.Buf = append(out.Buf, ',')
		}
		if err := writeOne(out, &a.Series[i], form.columns); err != nil {
			return err
		}
	}
	out.Buf = shape.AppendEnd(out.Buf, a)
	if form.plot {
		out.Buf = append(out.Buf, `,"step":`...)
		out.Buf = strconv.AppendFloat(out.Buf, a.Step.Seconds(), 'f', -1, 64)
	} else {
		out.Buf = append(out.Buf, `,"next":`...)
		out.Buf = point.AppendQuoted(out.Buf, a.Next)
	}
	out.Buf = append(shape.AppendSources(out.Buf, a.Sources), '}')
	return nil
}

func writeOne(o *operation.Output, s *query.Series, columns bool) error {
	o.Buf = shape.AppendSeriesHead(o.Buf, s)
	write := tuples
	if columns {
		write = asColumns
	}
	if err := write(o, s.Samples); err != nil {
		return err
	}
	o.Buf = shape.AppendSeriesTail(o.Buf, s)
	return nil
}

func tuples(o *operation.Output, samples []point.Sample) error {
	o.Buf = append(o.Buf, `"samples":[`...)
	for i := range samples {
		if i > 0 {
			o.Buf = append(o.Buf, ',')
		}
		o.Buf = answer.AppendTuple(o.Buf, &samples[i])
		if err := o.Spill(); err != nil {
			return err
		}
	}
	o.Buf = append(o.Buf, ']')
	return nil
}

// asColumns writes the samples of a series as columns, which take a third of the bytes of tuples and are cheaper to parse.
func asColumns(o *operation.Output, samples []point.Sample) error {
	o.Buf = append(o.Buf, `"columns":{"times":[`...)
	times(o, samples)
	o.Buf = append(o.Buf, `],"values":[`...)
	for i := range samples {
		if i > 0 {
			o.Buf = append(o.Buf, ',')
		}
		o.Buf = samples[i].Value.AppendJSON(o.Buf)
		if err := o.Spill(); err != nil {
			return err
		}
	}
	o.Buf = append(o.Buf, `],"qualities":[`...)
	qualities(o, samples)
	o.Buf = append(o.Buf, `]}`...)
	return nil
}

// times writes the first time, then each step with its number of repetitions.
func times(o *operation.Output, samples []point.Sample) {
	if len(samples) == 0 {
		return
	}
	last := samples[0].Time.UnixMicro()
	millis(o, last)
	for i := 1; i < len(samples); {
		step, n := samples[i].Time.UnixMicro()-last, 0
		for ; i < len(samples) && samples[i].Time.UnixMicro()-last == step; i++ {
			last += step
			n++
		}
		o.Buf = append(o.Buf, ',')
		millis(o, step)
		o.Buf = append(o.Buf, ',')
		o.Buf = strconv.AppendInt(o.Buf, int64(n), 10)
	}
}

func millis(o *operation.Output, micros int64) {
	if micros%1000 == 0 {
		o.Buf = strconv.AppendInt(o.Buf, micros/1000, 10)
		return
	}
	o.Buf = strconv.AppendFloat(o.Buf, float64(micros)/1000, 'f', -1, 64)
}

// qualities writes the runs of samples whose quality is not good: the index of the first, their number and their quality.
func qualities(o *operation.Output, samples []point.Sample) {
	comma := false
	for i := 0; i < len(samples); {
		first, quality := i, samples[i].Quality
		for i < len(samples) && samples[i].Quality == quality {
			i++
		}
		if quality == point.Good {
			continue
		}
		if comma {
			o.Buf = append(o.Buf, ',')
		}
		comma = true
		o.Buf = append(o.Buf, '[')
		o.Buf = strconv.AppendInt(o.Buf, int64(first), 10)
		o.Buf = append(o.Buf, ',')
		o.Buf = strconv.AppendInt(o.Buf, int64(i-first), 10)
		o.Buf = append(o.Buf, ',')
		o.Buf = point.AppendQuoted(o.Buf, quality.String())
		o.Buf = append(o.Buf, ']')
	}
}
