package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
)

// Parent is the node above this one.
type Parent interface {
	Parent(ctx context.Context) (answer.Parent, error)
	// JoinParent makes this node the child of the one that a code is of; name is what it wants to be
	// called, "" for what the code says or what it calls itself.
	JoinParent(ctx context.Context, code, name string) (answer.Parent, error)
	LeaveParent(ctx context.Context) error
	// RotateKey gives this node a new key in place of the one that its parent knows.
	RotateKey(ctx context.Context) (answer.Parent, error)
}

const (
	noParent = "node above it"
	joinBody = 8 << 10
	joinTime = 25 * time.Second // for all addresses of a code
)

var errInviteExpires = errors.New("must be a time such as 2027-01-31T12:00:00Z; leave it out for a day from now")

func parentRoutes() []route {
	const administrator, path = identity.Administrator, prefix + "/parent"
	return []route{
		{method: "GET", path: path, role: identity.Viewer, serve: (*server).parent},
		{method: "POST", path: path, role: administrator, body: joinBody, serve: (*server).joinParent, audit: "parent.join"},
		{method: "DELETE", path: path, role: administrator, serve: (*server).leaveParent, audit: "parent.leave"},
		{method: "POST", path: path + "/rotate", role: administrator, serve: (*server).rotateKey, audit: "parent.rotate"},
	}
}

func (s *server) parent(w http.ResponseWriter, r *request) error {
	if s.cfg.Parent == nil {
		return absent(noParent)
	}
	p, err := s.cfg.Parent.Parent(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, p)
}

// joinParent never tells the code to the audit log: it is a secret until it is used up.
func (s *server) joinParent(w http.ResponseWriter, r *request) error {
	if s.cfg.Parent == nil {
		return absent(noParent)
	}
	var body struct {
		Code string `json:"code"`
		Name string `json:"name"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(clip(body.Name), nil)
	ctx, cancel := context.WithTimeout(r.Context(), joinTime)
	defer cancel()
	p, err := s.cfg.Parent.JoinParent(ctx, body.Code, body.Name)
	if err != nil {
		return err
	}
	r.did(p.Parent, map[string]string{"fingerprint": p.Fingerprint, "name": p.Name, "state": p.State})
	return writeJSON(w, p)
}

func (s *server) leaveParent(w http.ResponseWriter, r *request) error {
	if s.cfg.Parent == nil {
		return absent(noParent)
	}
	if before, err := s.cfg.Parent.Parent(r.Context()); err == nil {
		r.did(before.Parent, nil)
	}
	if err := s.cfg.Parent.LeaveParent(r.Context()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *server) rotateKey(w http.ResponseWriter, r *request) error {
	if s.cfg.Parent == nil {
		return absent(noParent)
	}
	ctx, cancel := context.WithTimeout(r.Context(), joinTime)
	defer cancel()
	p, err := s.cfg.Parent.RotateKey(ctx)
	if err != nil {
		return err
	}
	r.did(p.Parent, map[string]string{"key_fingerprint": p.Key})
	return writeJSON(w, p)
}
