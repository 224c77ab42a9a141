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
	local := in.truth("local")
	if in.err != nil {
		return in.err
	}
	if far, err := s.distant(w, r, "aggregate"); far {
		return err
	}
	summarise := s.cfg.Engine.Aggregate
	if s.cfg.Wide != nil && !local {
		summarise = s.cfg.Wide.Aggregate
	}
	a, err := summarise(r.Context(), req, how)
	if err != nil {
		return err
	}
	return writeJSON(w, shape.Aggregate(&a))
}
