package exchange

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

var errInAddress = errors.New("stands in the address, not in the body")

// Arguments collects the arguments of a declared operation from path, query and body.
func Arguments(r *Request, rt *Route) (operation.Arguments, error) {
	d, args := rt.Declared, operation.Arguments{}
	if rt.Body > 0 {
		if err := readFields(r, d, &args); err != nil {
			return nil, err
		}
	}
	in := Read(r)
	for i := range d.Fields {
		f := &d.Fields[i]
		if !f.Query {
			continue
		}
		if _, is := args[f.Name]; is {
			return nil, fault.E(d.Name, fault.Invalid, f.Name, errInAddress)
		}
		var values []string
		if name := f.Address(); slices.Contains(rt.InPath, name) {
			values = []string{in.Segment(name)}
		} else {
			values = in.All(name)
		}
		if in.Err != nil {
			return nil, in.Err
		}
		value, given, err := f.FromTexts(values)
		if err != nil {
			return nil, fault.E(d.Name, fault.Invalid, f.Address(), err)
		}
		if given {
			args[f.Name] = value
		}
	}
	return args, nil
}

// ArgumentsOf collects the arguments of an operation that streams its answer.
func ArgumentsOf[In, Out any](r *Request, op operation.Operation[In, Out]) (*In, operation.Arguments, error) {
	d := op.Declared()
	_, path, _ := strings.Cut(d.HTTP, " ")
	args, err := Arguments(r, &Route{InPath: InBraces(path), Declared: &d})
	if err != nil {
		return nil, nil, err
	}
	who := CallerOf(r.User)
	in, err := op.Read(&who, args)
	return in, args, err
}

// readFields decodes the arguments in a body.
func readFields(r *Request, d *operation.Declared, args *operation.Arguments) error {
	var fields []string
	for i := range d.Fields {
		if !d.Fields[i].Query {
			fields = append(fields, d.Fields[i].Name)
		}
	}
	body, err := ReadNamed(r, args, fields)
	if err == nil {
		err = NoNull(body)
	}
	if err != nil {
		return err
	}
	for name, value := range *args {
		i := slices.IndexFunc(d.Fields, func(f operation.Field) bool { return f.Name == name })
		switch {
		case i < 0:
			return fault.E("api.readJSON", fault.Invalid, "body", fmt.Errorf("unknown field %q; there are %s", Clip(name), strings.Join(fields, ", ")))
		case !d.Fields[i].Query && !d.Fields[i].Takes(value):
			return fault.E("api.readJSON", fault.Invalid, "body", fmt.Errorf("the field %q must be a %s", name, TypeName(d.Fields[i].Type.Kind())))
		case d.Takes != "" && d.Fields[i].Named():
			if err := NoNullIn(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// CallerOf returns the caller in the form that operations receive.
func CallerOf(u identity.User) operation.Caller {
	_, recorder := u.RecordName()
	member, _ := u.MemberName()
	return operation.Caller{Name: ActorOf(u), Role: u.Role, Recorder: recorder, Under: u.Under, Member: member}
}

// InBraces lists the names in braces in a path.
func InBraces(path string) (list []string) {
	for part := range strings.SplitSeq(path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			list = append(list, strings.TrimSuffix(name, "}"))
		}
	}
	return list
}
