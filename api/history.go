package api

import (
	"context"
	"net/http"
	"strconv"

	"voltbus/api/answer"
	"voltbus/api/shape"
	"voltbus/point"
	"voltbus/query"
)

const (
	maxLimit   = 10_000_000
	plotPixels = 800
)

func (s *server) latest(w http.ResponseWriter, r *request) error {
	if s.cfg.Engine == nil {
		return absent("history")
	}
	in := s.read(r)
	sel, local := in.selection(true), in.truth("local")
	if in.err != nil {
		return in.err
	}
	if far, err := s.distant(w, r, "latest"); far {
		return err
	}
	n, err := s.newest(r.Context(), sel, local)
	if err != nil {
		return err
	}
	return writeLatest(w, &n)
}

// newest looks at this node alone, or at those below, too.
func (s *server) newest(ctx context.Context, sel query.Selection, local bool) (n query.Newest, err error) {
	if s.cfg.Wide != nil && !local {
		return s.cfg.Wide.Latest(ctx, sel)
	}
	n.Samples, err = s.cfg.Engine.Latest(ctx, sel)
	return n, err
}

func writeLatest(w http.ResponseWriter, n *query.Newest) error {
	out := &output{w: w}
	out.begin(jsonType)
	out.buf = append(out.buf, `{"samples":[`...)
	for i := range n.Samples {
		if i > 0 {
			out.buf = append(out.buf, ',')
		}
		out.buf = shape.AppendSample(out.buf, &n.Samples[i])
		if err := out.spill(); err != nil {
			return err
		}
	}
	out.buf = shape.AppendSources(append(out.buf, ']'), n.Sources)
	out.buf = append(out.buf, '}')
	return out.end()
}

func (s *server) ranged(w http.ResponseWriter, r *request) error {
	if s.cfg.Engine == nil {
		return absent("history")
	}
	in := s.read(r)
	req := in.paged()
	req.Limit, req.Newest = in.number("limit", 0, 1, maxLimit), in.truth("newest")
	local := in.truth("local")
	if in.err != nil {
		return in.err
	}
	if far, err := s.distant(w, r, "range"); far {
		return err
	}
	look := s.cfg.Engine.Range
	if s.cfg.Wide != nil && !local {
		look = s.cfg.Wide.Range
	}
	a, err := look(r.Context(), req)
	if err != nil {
		return err
	}
	return writeSeries(w, &a, seriesForm{})
}

func (s *server) plot(w http.ResponseWriter, r *request) error {
	if s.cfg.Engine == nil {
		return absent("history")
	}
	in := s.read(r)
	req, pixels := in.span(), in.number("pixels", plotPixels, query.MinPixels, query.MaxPixels)
	columns, local := in.columns(), in.truth("local")
	if in.err != nil {
		return in.err
	}
	draw := s.cfg.Engine.Plot
	if s.cfg.Wide != nil && !local {
		draw = s.cfg.Wide.Plot
	}
	a, err := draw(r.Context(), req, pixels)
	if err != nil {
		return err
	}
	return writeSeries(w, &a, seriesForm{plot: true, columns: columns})
}

// seriesForm is how an answer with series is written.
type seriesForm struct {
	plot    bool // an answer.Plot, not an answer.Range
	columns bool // with columns instead of tuples
}

// writeSeries writes an answer piece by piece.
func writeSeries(w http.ResponseWriter, a *query.Answer, form seriesForm) error {
	out := &output{w: w}
	out.begin(jsonType)
	out.buf = append(out.buf, `{"series":[`...)
	for i := range a.Series {
		if i > 0 {
			out.buf = append(out.buf, ',')
		}
		if err := out.series(&a.Series[i], form.columns); err != nil {
			return err
		}
	}
	out.buf = shape.AppendEnd(out.buf, a)
	if form.plot {
		out.buf = append(out.buf, `,"step":`...)
		out.buf = strconv.AppendFloat(out.buf, a.Step.Seconds(), 'f', -1, 64)
	} else {
		out.buf = append(out.buf, `,"next":`...)
		out.buf = point.AppendQuoted(out.buf, a.Next)
	}
	out.buf = append(shape.AppendSources(out.buf, a.Sources), '}')
	return out.end()
}

func (o *output) series(s *query.Series, columns bool) error {
	o.buf = shape.AppendSeriesHead(o.buf, s)
	write := o.tuples
	if columns {
		write = o.columns
	}
	if err := write(s.Samples); err != nil {
		return err
	}
	o.buf = shape.AppendSeriesTail(o.buf, s)
	return nil
}

func (o *output) tuples(samples []point.Sample) error {
	o.buf = append(o.buf, `"samples":[`...)
	for i := range samples {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = answer.AppendTuple(o.buf, &samples[i])
		if err := o.spill(); err != nil {
			return err
		}
	}
	o.buf = append(o.buf, ']')
	return nil
}
