package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"voltbus/api/answer"
)

// NewDocument is a text for a configuration document.
type NewDocument struct {
	Text   string `json:"text"`
	Type   string `json:"type"`
	Note   string `json:"note,omitempty"`
	Expect *int   `json:"expect,omitempty"` // the version that it was made from, 0 for none; nil for whatever
}

func documentParams(owner, name string) url.Values {
	return url.Values{"owner": {owner}, "name": {name}}
}

// Documents lists the documents of an owner, "" for all.
func (c *Client) Documents(ctx context.Context, owner string) (d answer.Documents, err error) {
	params := url.Values{}
	set(params, "owner", owner)
	return d, c.get(ctx, "documents", params, &d)
}

// Document returns a version of a document, 0 for the newest.
func (c *Client) Document(ctx context.Context, owner, name string, version int) (d answer.Document, err error) {
	params := documentParams(owner, name)
	setNumber(params, "version", version)
	return d, c.get(ctx, "documents/text", params, &d)
}

// SetDocument writes a document as a new version.
func (c *Client) SetDocument(ctx context.Context, owner, name string, n NewDocument) (d answer.Document, err error) {
	return d, c.exchange(ctx, "PUT documents/text", documentParams(owner, name), n, &d)
}

// CheckDocument says what is wrong with a document, without writing it.
func (c *Client) CheckDocument(ctx context.Context, owner, name string, n NewDocument) (d answer.DocumentCheck, err error) {
	return d, c.exchange(ctx, "POST documents/check", documentParams(owner, name), n, &d)
}

// DeleteDocument deletes a document; its history stays.
func (c *Client) DeleteDocument(ctx context.Context, owner, name, note string) error {
	params := documentParams(owner, name)
	set(params, "note", note)
	resp, err := c.call(ctx, http.MethodDelete, "documents/text", params, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// DocumentHistory lists the versions of a document, the newest first.
func (c *Client) DocumentHistory(ctx context.Context, owner, name string) (d answer.Documents, err error) {
	return d, c.get(ctx, "documents/history", documentParams(owner, name), &d)
}

// DocumentDiff returns how two versions differ, 0 for the newest and the one before.
func (c *Client) DocumentDiff(ctx context.Context, owner, name string, from, to int) (d answer.DocumentDiff, err error) {
	params := documentParams(owner, name)
	setNumber(params, "from", from)
	setNumber(params, "to", to)
	return d, c.get(ctx, "documents/diff", params, &d)
}

// RollbackDocument writes the text of an older version as a new one.
func (c *Client) RollbackDocument(ctx context.Context, owner, name string, version int) (d answer.Document, err error) {
	body := map[string]int{"version": version}
	return d, c.exchange(ctx, "POST documents/rollback", documentParams(owner, name), body, &d)
}

// ResolvedDocument returns the content as JSON, with what it refers to in its place.
func (c *Client) ResolvedDocument(ctx context.Context, owner, name string) (content json.RawMessage, err error) {
	return content, c.get(ctx, "documents/resolved", documentParams(owner, name), &content)
}

// exchange sends a body to an operation, such as "PUT documents/text", and reads the answer.
func (c *Client) exchange(ctx context.Context, operation string, params url.Values, body, into any) error {
	method, path, _ := strings.Cut(operation, " ")
	resp, err := c.call(ctx, method, path, params, body)
	if err != nil {
		return err
	}
	return errors.Join(decode(resp.Body, into), resp.Body.Close())
}
