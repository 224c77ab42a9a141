package api

import (
	"net/http"
	"slices"
	"strings"

	"voltbus/identity"
)

// route is one operation of the API.
type route struct {
	method string
	path   string
	role   identity.Role // who may call it; Nobody: everybody, also without a login
	params []string      // the query parameters that it knows
	body   int64         // most bytes of a request body
	stream bool          // the answer is long or endless: no HEAD, no compression
	serve  func(*server, http.ResponseWriter, *request) error
}

const prefix = "/api/v1"

// Most bytes of request bodies.
const (
	loginBody = 4 << 10
	sqlBody   = 256 << 10
)

func routes() []route {
	const viewer = identity.Viewer
	return []route{
		{method: "GET", path: prefix + "/session", role: viewer, serve: (*server).session},
		{method: "POST", path: prefix + "/session", body: loginBody, serve: (*server).login},
		{method: "DELETE", path: prefix + "/session", serve: (*server).logout},
		{method: "GET", path: prefix + "/health", serve: (*server).health},
		{method: "GET", path: prefix + "/version", role: viewer, serve: (*server).version},
		{method: "GET", path: prefix + "/openapi.yaml", role: viewer, serve: (*server).openapi},
		{
			method: "GET", path: prefix + "/points", role: viewer, serve: (*server).points,
			params: []string{"pattern", "search", "tag", "unit", "limit", "after"},
		},
		{
			method: "GET", path: prefix + "/latest", role: viewer, serve: (*server).latest,
			params: []string{"point", "pattern"},
		},
		{
			method: "GET", path: prefix + "/range", role: viewer, serve: (*server).ranged,
			params: []string{"point", "pattern", "from", "to", "limit", "newest"},
		},
		{
			method: "GET", path: prefix + "/plot", role: viewer, serve: (*server).plot,
			params: []string{"point", "pattern", "from", "to", "pixels"},
		},
		{
			method: "GET", path: prefix + "/aggregate", role: viewer, serve: (*server).aggregate,
			params: []string{"point", "pattern", "from", "to", "step"},
		},
		{
			method: "GET", path: prefix + "/stream", role: viewer, stream: true, serve: (*server).stream,
			params: []string{"pattern"},
		},
		{
			method: "GET", path: prefix + "/export", role: viewer, stream: true, serve: (*server).export,
			params: []string{"point", "pattern", "from", "to", "format"},
		},
		{method: "GET", path: prefix + "/devices", role: viewer, serve: (*server).devices},
		{method: "GET", path: prefix + "/ledger", role: viewer, serve: (*server).ledger},
		{
			method: "POST", path: prefix + "/sql", role: identity.Engineer, body: sqlBody, stream: true,
			serve: (*server).sql,
		},
		{method: "GET", path: "/metrics", role: viewer, serve: (*server).metrics},
	}
}

func index(list []route) map[string][]route {
	m := make(map[string][]route)
	for _, r := range list {
		m[r.path] = append(m[r.path], r)
	}
	return m
}

// find returns the route of a request, or what is wrong with it.
func (s *server) find(w http.ResponseWriter, r *http.Request) (route, error) {
	list, ok := s.routes[r.URL.Path]
	if !ok {
		return route{}, &statusError{http.StatusNotFound, errNoRoute}
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
		return route{}, &statusError{http.StatusMethodNotAllowed, errMethod}
	}
	return list[i], nil
}
