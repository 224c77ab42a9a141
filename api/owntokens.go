package api

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
)

var errExpires = errors.New("must be a time such as 2027-01-31T12:00:00Z; leave it out for a token without an end")

func ownToken(t identity.OwnToken) answer.OwnToken {
	return answer.OwnToken{ID: t.ID, Name: t.Name, Role: t.Role.String(), Created: t.Created, Expires: moment(t.Expires)}
}

// moment returns nil for a time that never is.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (s *server) ownTokens(w http.ResponseWriter, r *request) error {
	if s.cfg.Tokens == nil {
		return absent("tokens")
	}
	list, err := s.cfg.Tokens.OwnTokens(r.Context(), r.user.Name)
	if err != nil {
		return err
	}
	out := answer.OwnTokens{Tokens: make([]answer.OwnToken, len(list))}
	for i, t := range list {
		out.Tokens[i] = ownToken(t)
	}
	return writeJSON(w, out)
}

// issueOwnToken makes a token; this answer is the only place where it is ever shown.
func (s *server) issueOwnToken(w http.ResponseWriter, r *request) error {
	if s.cfg.Tokens == nil {
		return absent("tokens")
	}
	var body struct {
		Name    string  `json:"name"`
		Role    string  `json:"role"`
		Expires *string `json:"expires"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(body.Name, map[string]any{"role": body.Role, "expires": body.Expires})
	t := identity.OwnToken{Name: body.Name}
	var known bool
	if t.Role, known = identity.ParseRole(body.Role); !known || t.Role == identity.Nobody {
		return fault.E("api.issueOwnToken", fault.Invalid, "role", errRole)
	}
	if body.Expires != nil {
		var err error
		if t.Expires, err = time.Parse(time.RFC3339, *body.Expires); err != nil {
			return fault.E("api.issueOwnToken", fault.Invalid, "expires", errExpires)
		}
	}
	secret, made, err := s.cfg.Tokens.IssueOwn(r.Context(), shown(r.Request), t)
	if err != nil {
		return err
	}
	r.did(made.ID, map[string]any{"name": made.Name, "role": body.Role, "expires": body.Expires})
	return writeJSON(w, answer.IssuedOwnToken{OwnToken: ownToken(made), Token: secret})
}

// shown returns the secret by which the user of a request was recognised.
func shown(r *http.Request) identity.Shown {
	if header := r.Header.Get("Authorization"); header != "" {
		_, token, _ := strings.Cut(header, " ")
		return identity.Shown{Purpose: identity.Token, Secret: token}
	}
	if cookie, err := r.Cookie(Cookie); err == nil {
		return identity.Shown{Purpose: identity.Session, Secret: cookie.Value}
	}
	return identity.Shown{}
}

func (s *server) revokeOwnToken(w http.ResponseWriter, r *request) error {
	if s.cfg.Tokens == nil {
		return absent("tokens")
	}
	in := s.read(r)
	id := in.segment("id")
	if in.err != nil {
		return in.err
	}
	r.did(id, nil)
	gone, err := s.cfg.Tokens.RevokeOwn(r.Context(), r.user.Name, id)
	if err != nil {
		return err
	}
	r.did(id, map[string]any{"name": gone.Name})
	w.WriteHeader(http.StatusNoContent)
	return nil
}
