package api

import (
	"net/url"

	"voltbus/api/exchange"
	"voltbus/identity"
)

// elsewhere returns the other node that a request names, "" for none.
func (s *server) elsewhere(rt exchange.Route, params url.Values) string {
	node := params.Get("node")
	if rt.Remote == "" || node == "" || (s.cfg.Remote != nil && s.cfg.Remote.Self(node)) {
		return ""
	}
	return node
}

// Operation is something that may be asked of a node over HTTP, and of another one by a method of its own.
type Operation struct {
	Remote       string // the method
	Method, Path string // of HTTP; what stands in braces is an argument of the method
	Role         identity.Role
}

// Operations lists all that may be asked of another node with node=.
func Operations() (list []Operation) {
	for _, rt := range (&server{}).routes() {
		if rt.Remote != "" {
			list = append(list, Operation{Remote: rt.Remote, Method: rt.Method, Path: rt.Path, Role: rt.Role})
		}
	}
	return list
}
