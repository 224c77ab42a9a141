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
	Media  string // the Content-Type
	Text   []byte
	Params url.Values // precision, under, layout
	Key    string     // an idempotency key; "" for none
}

// SendSamples sends readings and returns their outcome once the accepted ones are on disk. It is no error if none was accepted.
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

// laterError is an error of a node that tells when to try again.
type laterError struct {
	error
	wait time.Duration
}

func (e *laterError) Unwrap() error { return e.error }

// later adds to an error when the response allows the next attempt.
func later(resp *http.Response, err error) error {
	seconds, parsed := strconv.Atoi(resp.Header.Get("Retry-After"))
	if parsed != nil || seconds < 0 {
		return err
	}
	return &laterError{err, time.Duration(seconds) * time.Second}
}

// RetryAfter returns how long the client should wait before it repeats the request that led to the error; false if the node did not say.
func RetryAfter(err error) (time.Duration, bool) {
	e, ok := errors.AsType[*laterError](err)
	if !ok {
		return 0, false
	}
	return e.wait, true
}
