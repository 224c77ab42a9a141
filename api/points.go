package api

import (
	"net/http"

	"voltbus/api/answer"
	"voltbus/api/shape"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
)

const (
	pagePoints    = 1000
	maxPagePoints = 10_000
)

func absent(what string) error { return fault.E("api", fault.Unavailable, what, errAbsent) }

func (s *server) points(w http.ResponseWriter, r *request) error {
	if s.cfg.Points == nil {
		return absent("points")
	}
	in := s.read(r)
	pattern, _ := in.text("pattern")
	search, _ := in.text("search")
	unit, _ := in.text("unit")
	after, _ := in.text("after")
	filter := catalog.Filter{
		Pattern: point.Pattern(pattern), Text: search, Unit: unit, After: point.Path(after),
		Tags: in.tags(), Limit: in.number("limit", pagePoints, 1, maxPagePoints),
	}
	if in.err != nil {
		return in.err
	}
	if far, err := s.distant(w, r, "points"); far {
		return err
	}
	page, err := s.cfg.Points.Search(r.Context(), filter)
	if err != nil {
		return err
	}
	out := answer.Points{Points: make([]answer.Point, len(page.Entries)), Next: string(page.Next)}
	for i := range page.Entries {
		out.Points[i] = shape.Point(&page.Entries[i].Info)
	}
	return writeJSON(w, out)
}
