package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"voltbus/api/answer"
)

// Configuration returns the text of the configuration with its history.
func (c *Client) Configuration(ctx context.Context) (a answer.Config, err error) {
	return a, c.get(ctx, "config", nil, &a)
}

// CheckConfig judges a text without changing anything. Problems are in the answer.
func (c *Client) CheckConfig(ctx context.Context, text string) (a answer.ConfigCheck, err error) {
	body := struct {
		Text string `json:"text"`
	}{text}
	return a, c.change(ctx, http.MethodPost, "config/check", body, &a)
}

// SetConfig writes and applies a text that was made from a version. With a bound the node goes back unless
// ConfirmConfig follows within it; another node is confirmed by the node that is asked, as soon as it
// reaches it, and 0 is a minute then.
func (c *Client) SetConfig(ctx context.Context, text, version string, bound time.Duration) (a answer.ConfigApplied, err error) {
	body := struct {
		Text    string  `json:"text"`
		Version string  `json:"version"`
		Confirm float64 `json:"confirm,omitempty"`
	}{text, version, bound.Seconds()}
	return a, c.change(ctx, http.MethodPut, "config", body, &a)
}

// ConfirmConfig lets the text of a version stay that is on trial.
func (c *Client) ConfirmConfig(ctx context.Context, version string) error {
	body := struct {
		Version string `json:"version"`
	}{version}
	resp, err := c.call(ctx, http.MethodPost, "config/confirm", nil, body)
	if err != nil {
		return err
	}
	return errors.Join(resp.Body.Close())
}

// ReloadConfig applies what stands in the file.
func (c *Client) ReloadConfig(ctx context.Context) (a answer.ConfigApplied, err error) {
	return a, c.change(ctx, http.MethodPost, "config/reload", nil, &a)
}
