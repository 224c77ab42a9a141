package api

import (
	"context"
	"net/http"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// Tokens manages tokens that can only record, and those that people make for programs.
type Tokens interface {
	IssueRecord(ctx context.Context, name, under string) (secret string, err error)
	RecordTokens(ctx context.Context) ([]identity.RecordToken, error)
	RevokeRecord(ctx context.Context, name string) error
	IssueOwn(ctx context.Context, by identity.Shown, t identity.OwnToken) (secret string, made identity.OwnToken, err error)
	OwnTokens(ctx context.Context, user string) ([]identity.OwnToken, error)
	RevokeOwn(ctx context.Context, user, id string) (identity.OwnToken, error)
}

const tokenBody = 8 << 10

func tokenRoutes() []route {
	const administrator = identity.Administrator
	return []route{
		{method: "GET", path: prefix + "/tokens", role: administrator, serve: (*server).tokens},
		{method: "POST", path: prefix + "/tokens", role: administrator, body: tokenBody, serve: (*server).issueToken, audit: "token.issue"},
		{method: "DELETE", path: prefix + "/tokens/{name}", role: administrator, serve: (*server).revokeToken, audit: "token.revoke"},
		{method: "GET", path: prefix + "/tokens/own", role: identity.Viewer, serve: (*server).ownTokens},
		{method: "POST", path: prefix + "/tokens/own", role: identity.Viewer, body: tokenBody, serve: (*server).issueOwnToken, audit: "token.own.issue"},
		{method: "DELETE", path: prefix + "/tokens/own/{id}", role: identity.Viewer, serve: (*server).revokeOwnToken, audit: "token.own.revoke"},
	}
}

func (s *server) tokens(w http.ResponseWriter, r *request) error {
	if s.cfg.Tokens == nil {
		return absent("tokens")
	}
	list, err := s.cfg.Tokens.RecordTokens(r.Context())
	if err != nil {
		return err
	}
	out := answer.Tokens{Tokens: make([]answer.Token, len(list))}
	for i, t := range list {
		out.Tokens[i] = answer.Token{Name: t.Name, Purpose: string(identity.Record), Under: t.Under, Created: t.Created}
	}
	return writeJSON(w, out)
}

// issueToken makes a token; this answer is the only place where it is ever shown.
func (s *server) issueToken(w http.ResponseWriter, r *request) error {
	if s.cfg.Tokens == nil {
		return absent("tokens")
	}
	var body struct {
		Name  string `json:"name"`
		Under string `json:"under"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(body.Name, map[string]any{"under": body.Under})
	if body.Under != "" {
		if err := point.Path(body.Under).Validate(); err != nil {
			return fault.E("api.issueToken", fault.Invalid, "under", err)
		}
	}
	if body.Name != "" {
		if err := point.Path(body.Name).Validate(); err != nil { // it appears in lists and logs
			return fault.E("api.issueToken", fault.Invalid, "name", err)
		}
	}
	secret, err := s.cfg.Tokens.IssueRecord(r.Context(), body.Name, body.Under)
	if err != nil {
		return err
	}
	return writeJSON(w, answer.IssuedToken{Name: body.Name, Under: body.Under, Token: secret})
}

func (s *server) revokeToken(w http.ResponseWriter, r *request) error {
	if s.cfg.Tokens == nil {
		return absent("tokens")
	}
	r.did(r.PathValue("name"), nil)
	if err := s.cfg.Tokens.RevokeRecord(r.Context(), r.PathValue("name")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
