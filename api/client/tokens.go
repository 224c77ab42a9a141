package client

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/operation/tokens"
)

// Tokens returns the tokens that can only record.
func (c *Client) Tokens(ctx context.Context) (answer.Tokens, error) {
	return Do(ctx, c, tokens.List, struct{}{})
}

// IssueToken makes a token that can only record, below a path or, if under is "", anywhere.
func (c *Client) IssueToken(ctx context.Context, name, under string) (answer.IssuedToken, error) {
	return Do(ctx, c, tokens.Issue, tokens.Recorder{Name: name, Under: under})
}

// RevokeToken ends a token at once.
func (c *Client) RevokeToken(ctx context.Context, name string) error {
	_, err := Do(ctx, c, tokens.Revoke, tokens.Name{Name: name})
	return err
}

// OwnTokens returns the tokens that the user made for programs.
func (c *Client) OwnTokens(ctx context.Context) (answer.OwnTokens, error) {
	return Do(ctx, c, tokens.ListOwn, struct{}{})
}

// IssueOwnToken makes a token for programs of the user, with a role that is not above the own. The
// zero time is no end.
func (c *Client) IssueOwnToken(ctx context.Context, name, role string, expires time.Time) (answer.IssuedOwnToken, error) {
	in := tokens.Own{Name: name, Role: role}
	if !expires.IsZero() {
		in.Expires = expires.Format(time.RFC3339Nano)
	}
	return Do(ctx, c, tokens.IssueOwn, in)
}

// RevokeOwnToken ends a token of the user at once.
func (c *Client) RevokeOwnToken(ctx context.Context, id string) error {
	_, err := Do(ctx, c, tokens.RevokeOwn, tokens.ID{ID: id})
	return err
}
