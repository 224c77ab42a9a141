package api

import (
	"net/http"
	"slices"
	"strings"

	"voltbus/api/exchange"
	"voltbus/operation/transport"
)

// routes lists all operations: each area of the API contributes a list.
func (s *server) routes() []exchange.Route {
	list := slices.Concat(
		s.door.Routes(), s.prometheusRoutes(), s.streams.Routes(), s.stateRoutes(),
		s.labs().routes(), s.uploads().Routes(), s.intake.Routes(),
		s.operationRoutes(), s.remoteCalls().routes(),
	)
	for i := range list {
		if list[i].Remote != "" {
			list[i].Params = append(slices.Clone(list[i].Params), "node")
		}
	}
	return list
}

func (s *server) stateRoutes() []exchange.Route {
	return []exchange.Route{
		exchange.Carried(transport.Health, s.health), exchange.Carried(transport.Document, s.openapi), exchange.Carried(transport.Metrics, s.metrics().Serve),
	}
}

// find returns the route of a request, or why there is none. It sets the request's path values.
func (t *routing) find(w http.ResponseWriter, r *http.Request) (exchange.Route, error) {
	list, values := t.lookup(r.URL.EscapedPath())
	if list == nil {
		return exchange.Route{}, exchange.Fail(http.StatusNotFound, errNoRoute)
	}
	for name, value := range values {
		r.SetPathValue(name, value)
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	i := slices.IndexFunc(list, func(rt exchange.Route) bool { return rt.Method == method })
	if i < 0 || (list[i].Stream && r.Method == http.MethodHead) {
		var allowed []string
		for _, rt := range list {
			allowed = append(allowed, rt.Method)
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return exchange.Route{}, exchange.Fail(http.StatusMethodNotAllowed, errMethod)
	}
	return list[i], nil
}
