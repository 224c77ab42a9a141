package api

import (
	"errors"
	"strconv"

	"voltbus/point"
)

var errSeriesFormat = errors.New("must be samples or columns")

// columns reports whether the samples of a plot are wanted as columns.
func (r *reading) columns() bool {
	text, _ := r.text("format")
	if text != "" && text != "samples" && text != "columns" {
		r.fail("format", errSeriesFormat)
	}
	return text == "columns"
}

// columns writes the samples of a series as columns, which are a third of the octets of tuples, and
// less for the reader to build.
func (o *output) columns(samples []point.Sample) error {
	o.buf = append(o.buf, `"columns":{"times":[`...)
	o.times(samples)
	o.buf = append(o.buf, `],"values":[`...)
	for i := range samples {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = samples[i].Value.AppendJSON(o.buf)
		if err := o.spill(); err != nil {
			return err
		}
	}
	o.buf = append(o.buf, `],"qualities":[`...)
	o.qualities(samples)
	o.buf = append(o.buf, `]}`...)
	return nil
}

// times writes the first time, then each step with how often it comes in a row.
func (o *output) times(samples []point.Sample) {
	if len(samples) == 0 {
		return
	}
	last := samples[0].Time.UnixMicro()
	o.millis(last)
	for i := 1; i < len(samples); {
		step, n := samples[i].Time.UnixMicro()-last, 0
		for ; i < len(samples) && samples[i].Time.UnixMicro()-last == step; i++ {
			last += step
			n++
		}
		o.buf = append(o.buf, ',')
		o.millis(step)
		o.buf = append(o.buf, ',')
		o.buf = strconv.AppendInt(o.buf, int64(n), 10)
	}
}

func (o *output) millis(micros int64) {
	if micros%1000 == 0 {
		o.buf = strconv.AppendInt(o.buf, micros/1000, 10)
		return
	}
	o.buf = strconv.AppendFloat(o.buf, float64(micros)/1000, 'f', -1, 64)
}

// qualities writes the runs of samples that are not good: the place of the first, how many, and
// their quality.
func (o *output) qualities(samples []point.Sample) {
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
			o.buf = append(o.buf, ',')
		}
		comma = true
		o.buf = append(o.buf, '[')
		o.buf = strconv.AppendInt(o.buf, int64(first), 10)
		o.buf = append(o.buf, ',')
		o.buf = strconv.AppendInt(o.buf, int64(i-first), 10)
		o.buf = append(o.buf, ',')
		o.buf = point.AppendQuoted(o.buf, quality.String())
		o.buf = append(o.buf, ']')
	}
}
