package exchange

import (
	"net/http"

	"voltbus/identity"
	"voltbus/operation"
)

// Route is one operation of the API.
type Route struct {
	Method   string
	Path     string              // a segment in braces matches any text, which is then r.PathValue of its name
	Role     identity.Role       // who may call it; Nobody: everybody, also without a login
	Params   []string            // the query parameters that it knows
	Body     int64               // most bytes of a request body
	Record   bool                // a token that can only record may call it too
	Foreign  bool                // parameters and answers are those of another program's API: unknown ones are its business
	Stream   bool                // the answer is long or endless: no HEAD, no compression
	Remote   string              // the method by which it is asked of another node with node=; "" if it cannot be
	Declared *operation.Declared // if it is declared below package operation, which audits it
	InPath   []string            // the names in braces, of a declared one
	Audit    string              // the action under which the audit log is told of it; "" for none
	Watched  string              // the action under which the audit log is told that somebody reads it; "" for none
	Serve    func(http.ResponseWriter, *Request) error
}

// Prefix begins the addresses of the API.
const Prefix = "/api/v1"

// SmallBody is the most bytes of small request bodies.
const SmallBody = 4 << 10
