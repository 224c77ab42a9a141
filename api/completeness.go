package api

import (
	"net/http"

	"voltbus/api/answer"
	"voltbus/api/shape"
	"voltbus/point"
	"voltbus/query"
)

// The heat map that is given if nothing else is said.
const (
	heatSpan  = "-1d"
	heatSteps = 48
	heatRows  = 200
	maxDepth  = 64
)

func (s *server) completeness(w http.ResponseWriter, r *request) error {
	if s.cfg.Engine == nil {
		return absent("history")
	}
	in := s.read(r)
	pattern, _ := in.text("pattern")
	after, _ := in.text("after")
	m := query.HeatMap{
		Pattern: point.Pattern(pattern), From: in.time("from", heatSpan), To: in.time("to", "now"),
		Steps: in.number("steps", heatSteps, 1, query.MaxSteps), Depth: in.number("depth", 0, 0, maxDepth),
		After: point.Path(after), Rows: in.number("limit", heatRows, 1, query.MaxRows),
	}
	if in.err != nil {
		return in.err
	}
	h, err := s.cfg.Engine.Completeness(r.Context(), m)
	if err != nil {
		return err
	}
	out := answer.Completeness{
		From: h.From, To: h.To, Step: h.Step.Seconds(), Next: string(h.Next),
		Rows: make([]answer.CompletenessRow, len(h.Rows)),
	}
	for i := range h.Rows {
		out.Rows[i] = heatRow(&h.Rows[i])
	}
	return writeJSON(w, out)
}

func heatRow(b *query.Branch) answer.CompletenessRow {
	row := answer.CompletenessRow{
		Path: string(b.Path), Points: b.Points, Present: b.Present, Expected: b.Expected,
		Coverage: make([]*float64, len(b.Cells)),
	}
	for i, f := range b.Cells {
		row.Coverage[i] = shape.Figure(f)
	}
	return row
}
