package api

import (
	"net/http"
	"slices"
	"strings"

	"voltbus/api/exchange"

	"voltbus/identity"
	"voltbus/operation"
)

// route is one operation of the API.
type route struct {
	method   string
	path     string              // a segment in braces matches any text, which is then r.PathValue of its name
	role     identity.Role       // who may call it; Nobody: everybody, also without a login
	params   []string            // the query parameters that it knows
	body     int64               // most bytes of a request body
	record   bool                // a token that can only record may call it too
	foreign  bool                // parameters and answers are those of another program's API: unknown ones are its business
	stream   bool                // the answer is long or endless: no HEAD, no compression
	remote   string              // the method by which it is asked of another node with node=; "" if it cannot be
	declared *operation.Declared // if it is declared below package operation, which audits it
	inPath   []string            // the names in braces, of a declared one
	audit    string              // the action under which the audit log is told of it; "" for none
	watched  string              // the action under which the audit log is told that somebody reads it; "" for none
	serve    func(*server, http.ResponseWriter, *exchange.Request) error
}

const prefix = "/api/v1"

// loginBody is the most bytes of small request bodies.
const loginBody = 4 << 10

// routes lists all operations: each area of the API adds a list of its own.
func routes() []route {
	list := slices.Concat(
		accessRoutes(), prometheusRoutes(), streamRoutes(), stateRoutes(),
		peopleRoutes(), busRoutes(),
		labRoutes(), processRoutes(), ingestRoutes(), meterRoutes(),
		operationRoutes(), controlRoutes(), farRoutes(), nodeRoutes(), logRoutes(),
	)
	for i := range list {
		if list[i].remote != "" {
			list[i].params = append(slices.Clone(list[i].params), "node")
		}
	}
	return list
}

func accessRoutes() []route {
	return []route{
		{method: "POST", path: prefix + "/session", body: loginBody, serve: (*server).login, audit: "login"},
		{method: "DELETE", path: prefix + "/session", serve: (*server).logout},
	}
}

func streamRoutes() []route {
	return []route{{
		method: "GET", path: prefix + "/stream", role: identity.Viewer, stream: true, serve: (*server).stream,
		params: []string{"pattern", "unit", "tag", "control", "node"},
	}}
}

func stateRoutes() []route {
	const viewer = identity.Viewer
	return []route{
		{method: "GET", path: prefix + "/health", serve: (*server).health},
		{method: "GET", path: prefix + "/openapi.yaml", role: viewer, serve: (*server).openapi},
		{method: "GET", path: "/metrics", role: viewer, serve: (*server).metrics},
	}
}

// find returns the route of a request, or what is wrong with it. The request's path values are
// set then.
func (s *server) find(w http.ResponseWriter, r *http.Request) (route, error) {
	list, values := s.routes.lookup(r.URL.EscapedPath())
	if list == nil {
		return route{}, exchange.Fail(http.StatusNotFound, errNoRoute)
	}
	for name, value := range values {
		r.SetPathValue(name, value)
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	i := slices.IndexFunc(list, func(rt route) bool { return rt.method == method })
	if i < 0 || (list[i].stream && r.Method == http.MethodHead) {
		var allowed []string
		for _, rt := range list {
			allowed = append(allowed, rt.method)
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return route{}, exchange.Fail(http.StatusMethodNotAllowed, errMethod)
	}
	return list[i], nil
}
