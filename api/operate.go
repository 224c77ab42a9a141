package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/documents"
)

// Declared lists the operations that are declared once, in packages below operation.
func Declared() []operation.Declared { return documents.Declared() }

// operationRoutes are the routes of declared operations.
func operationRoutes() []route {
	var list []route
	for _, d := range Declared() {
		method, path, _ := strings.Cut(d.HTTP, " ")
		rt := route{method: method, path: prefix + path, role: d.Role, body: d.Body, declared: d.Name}
		if d.Remote {
			rt.remote = d.Name
		}
		inPath := names(rt.path)
		for _, name := range d.Names(true) {
			if !slices.Contains(inPath, name) {
				rt.params = append(rt.params, name)
			}
		}
		rt.serve = func(s *server, w http.ResponseWriter, r *request) error { return s.perform(w, r, &rt, &d) }
		list = append(list, rt)
	}
	return list
}

// callerOfUser returns who asks, as operations know them.
func callerOfUser(u identity.User) operation.Caller {
	return operation.Caller{Name: ActorOf(u), Role: u.Role, Visitor: u.Visitor}
}

// perform has a declared operation done.
func (s *server) perform(w http.ResponseWriter, r *request, rt *route, d *operation.Declared) error {
	if s.cfg.Operations == nil || !s.cfg.Operations.Has(d.Name) {
		return absent(d.Name)
	}
	args, err := s.operands(r, rt, d)
	if err != nil {
		return err
	}
	who := callerOfUser(r.user)
	result, err := s.cfg.Operations.Run(r.Context(), &who, d.Name, args)
	if err != nil {
		return err
	}
	if string(result) == "null" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return writeJSON(w, result)
}

var errInAddress = errors.New("stands in the address, not in the body")

// operands collects the arguments of a declared operation from path, query and body.
func (s *server) operands(r *request, rt *route, d *operation.Declared) (operation.Arguments, error) {
	args := operation.Arguments{}
	if rt.body > 0 {
		if err := readJSON(nil, r, &args); err != nil {
			return nil, err
		}
	}
	in := s.read(r)
	inPath := names(rt.path)
	for i := range d.Fields {
		f := &d.Fields[i]
		if !f.Query {
			continue
		}
		if _, is := args[f.Name]; is {
			return nil, fault.E(d.Name, fault.Invalid, f.Name, errInAddress)
		}
		text, given := in.text(f.Name)
		if slices.Contains(inPath, f.Name) {
			text, given = in.segment(f.Name), true
		}
		if !given || text == "" {
			continue
		}
		value, err := f.FromText(text)
		if err != nil {
			return nil, fault.E(d.Name, fault.Invalid, f.Name, err)
		}
		args[f.Name] = value
	}
	return args, in.err
}
