package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
)

// Body is a body of readings to record.
type Body struct {
	Media  string // its Content-Type
	Text   []byte
	Params url.Values // precision, under, layout
	Key    string     // an idempotency key; "" for none
}

// SendSamples sends readings and returns what became of them when those accepted are on disk. That none
// was accepted is no error.
func (c *Client) SendSamples(ctx context.Context, b Body) (in answer.Ingested, err error) {
	target := c.base.JoinPath("api/v1/samples")
	target.RawQuery = b.Params.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(b.Text))
	if err != nil {
		return in, fault.E("client.SendSamples", fault.Invalid, "samples", err)
	}
	req.Header.Set("Content-Type", b.Media)
	req.Header.Set("Authorization", "Bearer "+c.token)
	if b.Key != "" {
		req.Header.Set("Idempotency-Key", b.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return in, c.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnprocessableEntity {
		if err := check(resp); err != nil {
			return in, later(resp, err)
		}
		return in, decode(resp.Body, &in)
	}
	var p answer.Problem
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
		return in, fault.E("client.SendSamples", fault.Corrupt, "answer", err)
	}
	if p.Ingested == nil {
		return in, FaultOf(p)
	}
	return *p.Ingested, nil
}

// laterError is an error of a node that says when to try again.
type laterError struct {
	error
	wait time.Duration
}

func (e *laterError) Unwrap() error { return e.error }

// later adds to an error what the response says of a next time.
func later(resp *http.Response, err error) error {
	seconds, parsed := strconv.Atoi(resp.Header.Get("Retry-After"))
	if parsed != nil || seconds < 0 {
		return err
	}
	return &laterError{err, time.Duration(seconds) * time.Second}
}

// RetryAfter returns how long the node wants its client to wait before it sends again what led to the
// error; false if it did not say so.
func RetryAfter(err error) (time.Duration, bool) {
	e, ok := errors.AsType[*laterError](err)
	if !ok {
		return 0, false
	}
	return e.wait, true
}

// Tokens returns the tokens that can only record.
func (c *Client) Tokens(ctx context.Context) (t answer.Tokens, err error) {
	return t, c.get(ctx, "tokens", nil, &t)
}

// IssueToken makes a token that can only record, below a path or, if under is "", anywhere.
func (c *Client) IssueToken(ctx context.Context, name, under string) (t answer.IssuedToken, err error) {
	body := struct {
		Name  string `json:"name"`
		Under string `json:"under,omitempty"`
	}{name, under}
	resp, err := c.call(ctx, http.MethodPost, "tokens", nil, body)
	if err != nil {
		return t, err
	}
	err = errors.Join(decode(resp.Body, &t), resp.Body.Close())
	return t, err
}

// RevokeToken ends a token at once.
func (c *Client) RevokeToken(ctx context.Context, name string) error {
	resp, err := c.call(ctx, http.MethodDelete, "tokens/"+url.PathEscape(name), nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// OwnTokens returns the tokens that the user made for programs.
func (c *Client) OwnTokens(ctx context.Context) (t answer.OwnTokens, err error) {
	return t, c.get(ctx, "tokens/own", nil, &t)
}

// IssueOwnToken makes a token for programs of the user, with a role that is not above the own. The
// zero time is no end.
func (c *Client) IssueOwnToken(ctx context.Context, name, role string, expires time.Time) (t answer.IssuedOwnToken, err error) {
	body := struct {
		Name    string    `json:"name"`
		Role    string    `json:"role"`
		Expires time.Time `json:"expires,omitzero"`
	}{name, role, expires}
	resp, err := c.call(ctx, http.MethodPost, "tokens/own", nil, body)
	if err != nil {
		return t, err
	}
	err = errors.Join(decode(resp.Body, &t), resp.Body.Close())
	return t, err
}

// RevokeOwnToken ends a token of the user at once.
func (c *Client) RevokeOwnToken(ctx context.Context, id string) error {
	resp, err := c.call(ctx, http.MethodDelete, "tokens/own/"+url.PathEscape(id), nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
