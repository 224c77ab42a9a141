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
func prometheusRoutes() []route {
	const base = prometheusPrefix + "/api/v1"
	selector := []string{"match[]", "start", "end", "limit"}
	var list []route
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
			list = append(list, route{
				method: method, path: base + call.path, role: identity.Viewer, params: call.params,
				body: prometheusBody, foreign: true, serve: (*server).prometheus,
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
	release, err := s.queries.wait(r.Context(), r.User.Name)
	if err != nil {
		return err
	}
	defer release()
	s.cfg.Prometheus.ServeHTTP(w, r.Request)
	return nil
}
