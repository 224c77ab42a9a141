package client

import (
	"context"
	"errors"
	"sync"

	"voltbus/fault"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/wire"
)

var errPeopleOnly = errors.New("agents cannot ask for it on the bus; ask over HTTP")

// Do asks the node for a declared operation, such as history.Latest of package operation/history. An argument at its zero value is left
// out, unless it is a pointer. It waits and fails as Call does.
//
// A program that imports a declaration links the part of the platform that carries it out; Call needs the name of the method alone.
func Do[In, Out any](ctx context.Context, c *Client, op operation.Operation[In, Out], in In) (out Out, err error) {
	if op.Method == "" {
		return out, fault.E("client.Do", fault.Invalid, op.Name, errPeopleOnly)
	}
	d := c.declarations.of(op.Name, op.Declared)
	args, err := d.Given(in)
	if err != nil {
		return out, err
	}
	var result any = &out
	if _, none := result.(*operation.None); none {
		result = nil
	}
	return out, c.calls.callWith(ctx, wire.NodeName, op.Method, result, named(d, args))
}

// declarations are those of operations that were asked for, by their names. To make one takes as long as a short call.
type declarations struct{ known sync.Map }

func (d *declarations) of(name string, declare func() operation.Declared) *operation.Declared {
	known, ok := d.known.Load(name)
	if !ok {
		made := declare()
		known, _ = d.known.LoadOrStore(name, &made)
	}
	return known.(*operation.Declared) //nolint:forcetypeassert // nothing else is stored
}

// named returns the body of a request with arguments by name; nil for none.
func named(d *operation.Declared, args operation.Arguments) []byte {
	size := 0
	for name, text := range args {
		size += len(name) + len(text) + len(`"":,`)
	}
	if size == 0 {
		return nil
	}
	const begin = `{"kwargs":{`
	body := append(make([]byte, 0, len(begin)+size+1), begin...)
	for i := range d.Fields {
		name := d.Fields[i].Name
		text, given := args[name]
		if !given {
			continue
		}
		if len(body) > len(begin) {
			body = append(body, ',')
		}
		body = append(append(point.AppendQuoted(body, name), ':'), text...)
	}
	return append(body, `}}`...)
}
