package exchange

import (
	"cmp"
	"net/http"
	"slices"

	"voltbus/identity"
	"voltbus/operation"
)

// Route is one operation of the API.
type Route struct {
	Method   string
	Path     string              // a segment in braces matches any text, available as r.PathValue of its name
	Role     identity.Role       // who may call it; Nobody: everybody, even without a login
	Params   []string            // the query parameters that it accepts
	Body     int64               // maximum bytes of the request body
	Record   bool                // a record-only token may call it too
	Members  bool                // only a member of the metering cluster may call it
	Foreign  bool                // its parameters and answers are those of another program's API, which handles unknown ones
	Stream   bool                // the answer is long or endless: no HEAD, no compression
	Remote   string              // the method to call on another node for node=; "" if there is none
	Declared *operation.Declared // set if it is declared below package operation, which audits it
	InPath   []string            // the names in braces, of a declared operation
	Audit    string              // the action under which it is audited; "" for none
	Watched  string              // the action under which reading it is audited; "" for none
	Serve    func(http.ResponseWriter, *Request) error
}

// Prefix is the path prefix of the API.
const Prefix = operation.Prefix

// RouteOf returns the route of a declared operation. What the table itself does not perform is audited, as declared, by the handler.
func RouteOf(d *operation.Declared, serve func(http.ResponseWriter, *Request) error) Route {
	method, path := d.Path()
	rt := Route{
		Method: method, Path: path, Role: d.Role, Body: d.Body, Stream: d.Stream != "", Record: d.Record, Members: d.Members, Foreign: d.Foreign, Declared: d,
		InPath: InBraces(path), Serve: serve,
	}
	if d.Carried != "" {
		if rt.Watched = d.Watched; d.Audited {
			rt.Audit = cmp.Or(d.Action, d.Name)
		}
	}
	switch {
	case d.Remote && d.Granted:
		rt.Remote = d.Method
	case d.Remote:
		rt.Remote = d.Name
	}
	for _, name := range d.Names(true) {
		if !slices.Contains(rt.InPath, name) {
			rt.Params = append(rt.Params, name)
		}
	}
	return rt
}

// Carried returns the route of an operation that the adapter answers itself.
func Carried[In, Out any](o operation.Operation[In, Out], serve func(http.ResponseWriter, *Request) error) Route {
	d := o.Declared()
	return RouteOf(&d, serve)
}

// SmallBody is the maximum size of small request bodies in bytes.
const SmallBody = 4 << 10
