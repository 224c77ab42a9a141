package api

import (
	"net/http"

	"voltbus/api/exchange"
	"voltbus/identity"
)

const (
	prometheusPrefix = "/prometheus"
	prometheusBody   = 512 << 10
)

// prometheusRoutes are the reading part of Prometheus' API, as Grafana asks for it.
func (s *server) prometheusRoutes() []exchange.Route {
	const base = prometheusPrefix + "/api/v1"
	selector := []string{"match[]", "start", "end", "limit"}
	var list []exchange.Route
	for _, call := range []struct {
		path   string
		params []string
	}{
		{"/query", []string{"query", "time", "timeout", "lookback_delta", "limit"}},
		{"/query_range", []string{"query", "start", "end", "step", "timeout", "lookback_delta", "limit"}},
		{"/series", selector},
		{"/labels", selector},
		{"/label/{name}/values", selector},
		{"/metadata", []string{"metric", "limit"}},
		{"/status/buildinfo", nil},
		{"/format_query", []string{"query"}},
		{"/rules", nil},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			list = append(list, exchange.Route{
				Method: method, Path: base + call.path, Role: identity.Viewer, Params: call.params,
				Body: prometheusBody, Foreign: true, Serve: s.prometheus,
			})
		}
	}
	return list
}

// prometheus hands the request on; the handler writes refusals too, in the shape of Prometheus.
func (s *server) prometheus(w http.ResponseWriter, r *exchange.Request) error {
	if s.cfg.Prometheus == nil {
		return exchange.Absent("history")
	}
	release, err := s.queries.Wait(r.Context(), r.User.Name)
	if err != nil {
		return err
	}
	defer release()
	s.cfg.Prometheus.ServeHTTP(w, r.Request)
	return nil
}
