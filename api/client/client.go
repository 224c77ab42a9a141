// Package client is a typed client of the HTTP API. Errors that the node reports come back with
// their kind and subject, as if they had happened here.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"voltbus/api/answer"
	"voltbus/fault"
)

// maxProblem is how much of an error response is read.
const maxProblem = 1 << 20

// Client calls one node. It is immutable and safe for concurrent use. Its methods return the
// faults that the node reports, and fault.Unreachable if it does not answer.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
	node  string // another node that is reached through this one; "" for none
}

var errAddress = errors.New("is not an address of a node; write http://localhost:8080")

// New returns a client of the node at the address, such as "http://localhost:8080", that sends the
// token. The transport carries the requests; nil is http.DefaultTransport. It starts nothing.
func New(address, token string, transport http.RoundTripper) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fault.E("client.New", fault.Invalid, address, errAddress)
	}
	// A redirect would carry the token elsewhere; the API has none.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: base, token: token, http: &http.Client{Transport: transport, CheckRedirect: stay}}, nil
}

// At returns a client that addresses another node of the tree through this one, "" for this one. Only
// operations that can be requested remotely are available: those of installed agents, of documents and
// of the configuration.
func (c *Client) At(node string) *Client {
	clone := *c
	clone.node = node
	return &clone
}

// WithToken returns a client of the same node that sends another token.
func WithToken(c *Client, token string) *Client {
	clone := *c
	clone.token = token
	return &clone
}

// Health returns the node's health. An unhealthy node answers too: that is no error.
func (c *Client) Health(ctx context.Context) (h answer.Health, err error) {
	resp, err := c.send(ctx, http.MethodGet, "health", nil, nil)
	if err != nil {
		return h, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || media(resp) != "application/json" {
		if err := check(resp); err != nil {
			return h, err
		}
	}
	return h, decode(resp.Body, &h)
}

// get reads a JSON answer.
func (c *Client) get(ctx context.Context, path string, params url.Values, into any) error {
	resp, err := c.call(ctx, http.MethodGet, path, params, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return decode(resp.Body, into)
}

func decode(body io.Reader, into any) error {
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fault.E("client.decode", fault.Corrupt, "answer", fmt.Errorf("cannot be read: %w", err))
	}
	return nil
}

// call sends a request and returns the response of a success. The caller closes its body.
func (c *Client) call(ctx context.Context, method, path string, params url.Values, body any) (*http.Response, error) {
	resp, err := c.send(ctx, method, path, params, body)
	if err != nil {
		return nil, err
	}
	if err := check(resp); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

func (c *Client) send(ctx context.Context, method, path string, params url.Values, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fault.E("client.send", fault.Internal, path, err)
		}
		content = bytes.NewReader(b)
	}
	target := c.base.JoinPath("api/v1", path)
	if c.node != "" {
		params = maps.Clone(params)
		if params == nil {
			params = url.Values{}
		}
		params.Set("node", c.node)
	}
	target.RawQuery = params.Encode()
	req, err := http.NewRequestWithContext(ctx, method, target.String(), content)
	if err != nil {
		return nil, fault.E("client.send", fault.Invalid, path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	return resp, nil
}

func (c *Client) unreachable(err error) error {
	kind := fault.Unreachable
	if k := fault.KindOf(err); k == fault.Canceled || k == fault.Timeout {
		kind = k
	}
	return fault.E("client.send", kind, c.base.Redacted(), fmt.Errorf(
		"no answer from the node; check that it runs and the address: %w", err))
}

// check returns the fault that a response reports, or nil.
func check(resp *http.Response) error {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err != nil {
		return fault.E("client.check", fault.Unreachable, resp.Request.URL.Path, err)
	}
	var p answer.Problem
	if media(resp) != "application/problem+json" || json.Unmarshal(b, &p) != nil {
		return fault.E("client.check", fault.Unreachable, resp.Request.URL.Host, fmt.Errorf(
			"answers %s, but not as a node does; check the address", resp.Status))
	}
	return FaultOf(p)
}

// FaultOf returns the fault that a problem describes.
func FaultOf(p answer.Problem) error {
	kind, _ := fault.ParseKind(p.Kind)
	err := errors.New(p.Detail)
	if p.Missing != "" {
		err = &Lacking{err, p.Node, p.Missing}
	}
	return fault.E("node", kind, p.Subject, err)
}

// Lacking is the cause of a refusal; it names the missing capability.
type Lacking struct {
	error

	Node       string // that refused it; "" for the called node
	Capability string // as a grant is written
}

func media(resp *http.Response) string {
	m, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return m
}

// set sets a parameter unless its value is empty.
func set(params url.Values, name, value string) {
	if value != "" {
		params.Set(name, value)
	}
}

func setNumber(params url.Values, name string, n int) {
	if n != 0 {
		params.Set(name, strconv.Itoa(n))
	}
}

// tagList writes tags as parameters.
func tagList(tags map[string]string) []string {
	list := make([]string, 0, len(tags))
	for k, v := range tags {
		list = append(list, strings.Join([]string{k, v}, "="))
	}
	return list
}
