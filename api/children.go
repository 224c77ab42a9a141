package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// Children are the nodes below this one, and the invitations to become one. Changes hold on open
// connections when a method returns.
type Children interface {
	Children(ctx context.Context) ([]answer.Child, error)
	Child(ctx context.Context, name string) (answer.Child, error)
	// AddChild registers a child by a key that was made elsewhere, as approved.
	AddChild(ctx context.Context, c identity.Child) (answer.Child, error)
	// DecideChild approves, denies or revokes; by is who decides.
	DecideChild(ctx context.Context, name string, d Decision, by string) (answer.Child, error)
	// RegrantChild lets change edit what a child may do.
	RegrantChild(ctx context.Context, name string, change func(*identity.Grants) error) (answer.Child, error)
	ConfineChild(ctx context.Context, name string, prefix point.Path) (answer.Child, error)
	RemoveChild(ctx context.Context, name string) error

	Invitations(ctx context.Context) ([]answer.Invitation, error)
	// Invite makes an invitation whose code names the addresses; none for those that this node knows.
	Invite(ctx context.Context, wish identity.Invitation, addresses []string) (answer.Invited, error)
	CancelInvitation(ctx context.Context, id string) (answer.Invitation, error)
	Door(ctx context.Context) (answer.Door, error)
}

// Decision is what becomes of a child.
type Decision string

// The decisions.
const (
	ApproveChild Decision = "approve"
	DenyChild    Decision = "deny"
	RevokeChild  Decision = "revoke"
)

const (
	noChildren = "nodes below it"
	inviteLife = 24 * time.Hour // if nothing else is said
)

func childRoutes() []route {
	const administrator, viewer = identity.Administrator, identity.Viewer
	const children, path, invitations = prefix + "/children", prefix + "/children/{name}", prefix + "/invitations"
	return []route{
		{method: "GET", path: children, role: viewer, serve: (*server).children},
		{method: "POST", path: children, role: administrator, body: agentBody, serve: (*server).addChild, audit: "child.add"},
		{method: "GET", path: path, role: viewer, serve: (*server).child},
		{method: "DELETE", path: path, role: administrator, serve: (*server).removeChild, audit: "child.remove"},
		{method: "POST", path: path + "/approve", role: administrator, serve: decide(ApproveChild), audit: "child.approve"},
		{method: "POST", path: path + "/deny", role: administrator, serve: decide(DenyChild), audit: "child.deny"},
		{method: "POST", path: path + "/revoke", role: administrator, serve: decide(RevokeChild), audit: "child.revoke"},
		{method: "PATCH", path: path + "/grants", role: administrator, body: agentBody, serve: (*server).changeChildGrants, audit: "child.grant"},
		{method: "PUT", path: path + "/prefix", role: administrator, body: agentBody, serve: (*server).confineChild, audit: "child.confine"},
		{method: "GET", path: invitations, role: viewer, serve: (*server).invitations},
		{method: "POST", path: invitations, role: administrator, body: agentBody, serve: (*server).invite, audit: "invitation.add"},
		{method: "DELETE", path: invitations + "/{id}", role: administrator, serve: (*server).cancelInvitation, audit: "invitation.cancel"},
		{method: "GET", path: prefix + "/door", role: viewer, serve: (*server).door},
	}
}

var errChildExpires = errors.New("must be a time such as 2027-01-31T12:00:00Z; leave it away for a key that does not expire")

func (s *server) children(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	list, err := s.cfg.Children.Children(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, answer.Children{Children: list})
}

func (s *server) child(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	c, err := s.cfg.Children.Child(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return writeJSON(w, c)
}

// addChild registers a key that was made elsewhere.
func (s *server) addChild(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	var body struct {
		Name    string          `json:"name"`
		Public  string          `json:"public"`
		Prefix  string          `json:"prefix"`
		Grants  identity.Grants `json:"grants"`
		Expires *string         `json:"expires,omitempty"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(clip(body.Name), body)
	wish := identity.Child{Name: body.Name, Public: body.Public, Prefix: point.Path(body.Prefix), Grants: body.Grants, By: r.user.Name}
	if body.Expires != nil {
		var err error
		if wish.Expires, err = time.Parse(time.RFC3339, *body.Expires); err != nil {
			return fault.E("api.addChild", fault.Invalid, "expires", errChildExpires)
		}
	}
	c, err := s.cfg.Children.AddChild(r.Context(), wish)
	if err != nil {
		return err
	}
	return writeJSON(w, c)
}

func (s *server) removeChild(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	r.did(r.PathValue("name"), nil)
	if err := s.cfg.Children.RemoveChild(r.Context(), r.PathValue("name")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func decide(d Decision) func(*server, http.ResponseWriter, *request) error {
	return func(s *server, w http.ResponseWriter, r *request) error {
		if s.cfg.Children == nil {
			return absent(noChildren)
		}
		r.did(r.PathValue("name"), nil)
		c, err := s.cfg.Children.DecideChild(r.Context(), r.PathValue("name"), d, r.user.Name)
		if err != nil {
			return err
		}
		r.did(c.Name, map[string]string{"fingerprint": c.Print})
		return writeJSON(w, c)
	}
}

// changeChildGrants adds and withdraws grants, so that two who do it at once undo nothing of each other.
func (s *server) changeChildGrants(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	var body struct {
		Grant    identity.Grants `json:"grant"`
		Withdraw identity.Grants `json:"withdraw"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	name := r.PathValue("name")
	r.did(name, nil)
	c, err := s.cfg.Children.RegrantChild(r.Context(), name, func(g *identity.Grants) error {
		before := *g
		left, err := g.Without(body.Withdraw)
		*g = left.With(body.Grant)
		r.did(name, struct {
			Before []string `json:"before"`
			After  []string `json:"after"`
		}{before.Capabilities(), g.Capabilities()})
		return err
	})
	if err != nil {
		return err
	}
	return writeJSON(w, c)
}

func (s *server) confineChild(w http.ResponseWriter, r *request) error {
	if s.cfg.Children == nil {
		return absent(noChildren)
	}
	var body struct {
		Prefix string `json:"prefix"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(r.PathValue("name"), body)
	c, err := s.cfg.Children.ConfineChild(r.Context(), r.PathValue("name"), point.Path(body.Prefix))
	if err != nil {
		return err
	}
	return writeJSON(w, c)
}
