package api

import (
	"net/http"

	"voltbus/api/exchange"
	"voltbus/operation/transport"
)

const prometheusPrefix = "/prometheus"

// prometheusRoutes is the query part of Prometheus' API, as Grafana uses it.
func (s *server) prometheusRoutes() []exchange.Route {
	list := transport.Prometheus()
	routes := make([]exchange.Route, len(list))
	for i := range list {
		routes[i] = exchange.RouteOf(&list[i], s.prometheus)
	}
	return routes
}

// prometheus passes the request on; the handler writes refusals too, in the form of Prometheus.
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
