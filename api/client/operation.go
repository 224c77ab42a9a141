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

// Do performs a declared operation. Zero arguments are omitted unless they are pointers.
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

// Tell is Do for an operation without a result.
func Tell[In any](ctx context.Context, c *Client, op operation.Operation[In, operation.None], in In) error {
	_, err := Do(ctx, c, op, in)
	return err
}

// Copy performs a declared operation that returns a file, and writes the file to w; it returns the number of bytes. After an error the file
// is incomplete.
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

// ask requests a declared operation, and returns a successful response. The caller closes its body.
func ask[In, Out any](ctx context.Context, c *Client, op operation.Operation[In, Out], in In) (*http.Response, error) {
	d := op.Declared()
	args, err := d.Given(in)
	if err != nil {
		return nil, err
	}
	return Request(ctx, c, &d, args)
}

var errAgentsOnly = errors.New("is not asked over HTTP; only agents ask for it")

// Request performs an operation with its arguments as JSON, for programs that know it only by its declaration. It returns a successful
// response, whose body the caller closes.
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

// textsOf returns the values of an argument for a URL, one for each occurrence.
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

// textOf returns the value of an argument for a URL.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
