package api

import (
	"net/url"

	"voltbus/api/exchange"
	"voltbus/identity"
)

// elsewhere returns the other node named in a request, "" for none.
func (s *server) elsewhere(rt exchange.Route, params url.Values) string {
	node := params.Get("node")
	if rt.Remote == "" || node == "" || (s.cfg.Remote != nil && s.cfg.Remote.Self(node)) {
		return ""
	}
	return node
}

// Operation can be requested from a node over HTTP, and from another one by its own method.
type Operation struct {
	Remote       string // the method
	Method, Path string // of HTTP; names in braces are arguments of the method
	Role         identity.Role
}

// Operations lists all operations that can be requested from another node with node=.
func Operations() (list []Operation) {
	for _, rt := range (&server{}).routes() {
		if rt.Remote != "" {
			list = append(list, Operation{Remote: rt.Remote, Method: rt.Method, Path: rt.Path, Role: rt.Role})
		}
	}
	return list
}
