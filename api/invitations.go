package api

import (
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

func (s *server) invitations(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	list, err := s.cfg.Children.Invitations(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, answer.Invitations{Invitations: list})
}

// invite makes an invitation; this answer is the only place where its code is ever shown.
func (s *server) invite(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	var body struct {
		Name      string          `json:"name"`
		Prefix    string          `json:"prefix"`
		Grants    identity.Grants `json:"grants"`
		Approved  bool            `json:"approved"`
		Expires   *string         `json:"expires"`
		Addresses []string        `json:"addresses"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(clip(body.Name), body)
	wish := identity.Invitation{
		Name: body.Name, Prefix: point.Path(body.Prefix), Grants: body.Grants, Approved: body.Approved,
		Expires: s.cfg.Now().Add(inviteLife), By: r.user.Name,
	}
	if body.Expires != nil {
		var err error
		if wish.Expires, err = time.Parse(time.RFC3339, *body.Expires); err != nil {
			return fault.E("api.invite", fault.Invalid, "expires", errInviteExpires)
		}
	}
	made, err := s.cfg.Children.Invite(r.Context(), wish, body.Addresses)
	if err != nil {
		return err
	}
	r.did(made.Invitation.ID, body)
	return writeJSON(w, made)
}

func (s *server) cancelInvitation(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	in := s.read(r)
	id := in.segment("id")
	if in.err != nil {
		return in.err
	}
	r.did(id, nil)
	i, err := s.cfg.Children.CancelInvitation(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, i)
}

func (s *server) door(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	d, err := s.cfg.Children.Door(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, d)
}
