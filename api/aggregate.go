package api

import (
	"net/http"

	"voltbus/api/shape"
	"voltbus/query"
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
	if far, err := s.distant(w, r, "aggregate"); far {
		return err
	}
	a, err := s.cfg.Engine.Aggregate(r.Context(), req, how)
	if err != nil {
		return err
	}
	return writeJSON(w, shape.Aggregate(&a))
}
