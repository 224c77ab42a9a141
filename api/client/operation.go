package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"voltbus/fault"
	"voltbus/operation"
)

// Do asks for a declared operation. What an argument leaves at its zero value is left out, unless it is a pointer.
func Do[In, Out any](ctx context.Context, c *Client, op operation.Operation[In, Out], in In) (out Out, err error) {
	resp, err := ask(ctx, c, op, in)
	if err != nil {
		return out, err
	}
	if _, none := any(out).(operation.None); none {
		return out, resp.Body.Close()
	}
	return out, errors.Join(decode(resp.Body, &out), resp.Body.Close())
}

// Tell is Do for an operation that answers nothing.
func Tell[In any](ctx context.Context, c *Client, op operation.Operation[In, operation.None], in In) error {
	_, err := Do(ctx, c, op, in)
	return err
}

// Copy asks for a declared operation whose answer is a file, and writes that to w; it returns its bytes. With an error, what was written is
// not complete.
func Copy[In any](ctx context.Context, c *Client, op operation.Operation[In, operation.None], in In, w io.Writer) (int64, error) {
	resp, err := ask(ctx, c, op, in)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	n, err := io.Copy(w, resp.Body)
	if err != nil {
		return n, fault.E("client.Copy", fault.Unreachable, op.Name, fmt.Errorf("the file is not complete after %d bytes: %w", n, err))
	}
	return n, nil
}

// ask asks for a declared operation, and returns the response of a success. The caller closes its body.
func ask[In, Out any](ctx context.Context, c *Client, op operation.Operation[In, Out], in In) (*http.Response, error) {
	d := op.Declared()
	args, err := d.Given(in)
	if err != nil {
		return nil, err
	}
	return Request(ctx, c, &d, args)
}

var errAgentsOnly = errors.New("is not asked over HTTP; only agents ask for it")

// Request asks for an operation with its arguments as JSON, for programs that know it by its declaration alone. It returns the response of a
// success, whose body the caller closes.
func Request(ctx context.Context, c *Client, d *operation.Declared, args operation.Arguments) (*http.Response, error) {
	method, path, over := strings.Cut(d.HTTP, " ")
	if !over {
		return nil, fault.E("client.Request", fault.Invalid, d.Name, errAgentsOnly)
	}
	path = strings.TrimPrefix(path, "/")
	params, body := url.Values{}, operation.Arguments{}
	for i := range d.Fields {
		f := &d.Fields[i]
		value, given := args[f.Name]
		brace := "{" + f.Name + "}"
		switch {
		case strings.Contains(path, brace):
			path = strings.Replace(path, brace, url.PathEscape(textOf(value)), 1)
		case !given:
		case f.Query:
			params[f.Address()] = textsOf(f, value)
		default:
			body[f.Name] = value
		}
	}
	var content any
	if d.Body > 0 {
		content = body
	}
	return c.call(ctx, method, path, params, content)
}

// textsOf returns an argument as it stands in an address, as often as it stands there.
func textsOf(f *operation.Field, value json.RawMessage) []string {
	var list []string
	var pairs map[string]string
	switch {
	case !f.IsList():
		return []string{textOf(value)}
	case json.Unmarshal(value, &pairs) == nil:
		return tagList(pairs)
	case json.Unmarshal(value, &list) == nil && f.Commas:
		return []string{strings.Join(list, ",")}
	}
	return list
}

// textOf returns an argument as it stands in an address.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
