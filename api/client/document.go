package client

import (
	"context"
	"encoding/json"

	"voltbus/api/answer"
	"voltbus/operation/documents"
)

// NewDocument is a text for a configuration document.
type NewDocument struct {
	Text   string
	Type   string
	Note   string
	Expect *int // the version that it was made from, 0 for none; nil for whatever
}

func (n *NewDocument) of(owner, name string) documents.Text {
	return documents.Text{Key: documents.Key{Owner: owner, Name: name}, Text: &n.Text, Type: n.Type, Note: n.Note, Expect: n.Expect}
}

// Documents lists the documents of an owner, "" for all.
func (c *Client) Documents(ctx context.Context, owner string) (answer.Documents, error) {
	return Do(ctx, c, documents.List, documents.Owner{Owner: owner})
}

// Document returns a version of a document, 0 for the newest.
func (c *Client) Document(ctx context.Context, owner, name string, version int) (answer.Document, error) {
	return Do(ctx, c, documents.Get, documents.Version{Key: documents.Key{Owner: owner, Name: name}, Version: version})
}

// SetDocument writes a document as a new version.
func (c *Client) SetDocument(ctx context.Context, owner, name string, n NewDocument) (answer.Document, error) {
	return Do(ctx, c, documents.Set, n.of(owner, name))
}

// CheckDocument says what is wrong with a document, without writing it.
func (c *Client) CheckDocument(ctx context.Context, owner, name string, n NewDocument) (answer.DocumentCheck, error) {
	return Do(ctx, c, documents.Check, n.of(owner, name))
}

// DeleteDocument deletes a document; its history stays.
func (c *Client) DeleteDocument(ctx context.Context, owner, name, note string) error {
	_, err := Do(ctx, c, documents.Delete, documents.Deletion{Key: documents.Key{Owner: owner, Name: name}, Note: note})
	return err
}

// DocumentHistory lists the versions of a document, the newest first.
func (c *Client) DocumentHistory(ctx context.Context, owner, name string) (answer.Documents, error) {
	return Do(ctx, c, documents.History, documents.Key{Owner: owner, Name: name})
}

// DocumentDiff returns how two versions differ, 0 for the newest and the one before.
func (c *Client) DocumentDiff(ctx context.Context, owner, name string, from, to int) (answer.DocumentDiff, error) {
	return Do(ctx, c, documents.Diff, documents.Versions{Key: documents.Key{Owner: owner, Name: name}, From: from, To: to})
}

// RollbackDocument writes the text of an older version as a new one.
func (c *Client) RollbackDocument(ctx context.Context, owner, name string, version int) (answer.Document, error) {
	return Do(ctx, c, documents.Rollback, documents.Return{Key: documents.Key{Owner: owner, Name: name}, Version: version})
}

// ResolvedDocument returns the content as JSON, with what it refers to in its place.
func (c *Client) ResolvedDocument(ctx context.Context, owner, name string) (json.RawMessage, error) {
	return Do(ctx, c, documents.Resolved, documents.Key{Owner: owner, Name: name})
}
