package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"voltbus/fault"
	"voltbus/identity"
)

// The caller's node names the caller, and each node on the way checks whether the forwarding neighbour can
// vouch for that node: a child for itself and its descendants, the parent for everybody except this node and
// its descendants. So no node vouches for a caller of another branch.

var (
	errSpeech = errors.New("says for whom it asks in words that cannot be read; is its program damaged, or somebody else's?")
	errHere   = errors.New("does not say of which node it is for whom the neighbour asks")
	errForged = errors.New("is not reached by the neighbour that asks for it, so that neighbour cannot speak for it")
	errNoNode = errors.New("is of a node that is not known to stand below the neighbour that asks for it; ask again in a few seconds, and look at voltbus nodes whether its name is let in")
)

// vouch returns the caller for whom a neighbour makes a request, with the name of its node as known here; the
// zero Principal if the neighbour does not state it. fault.Refused: it cannot vouch for that caller;
// fault.Unavailable: it is not yet known whether it can.
func (t *Tree) vouch(from Hop, r *Request) (identity.Principal, error) {
	const op = "tree.Relay"
	if r.For == "" {
		return identity.Principal{}, nil
	}
	p, err := identity.ParsePrincipal(r.For)
	switch {
	case err != nil:
		return p, fault.E(op, fault.Refused, from.Name, fmt.Errorf("%w: %w", errSpeech, err))
	case p.Node == "":
		return p, fault.E(op, fault.Refused, from.Name, errHere)
	}
	node, err := t.reached(from, p.Node)
	if err != nil {
		kind := fault.Refused
		if errors.Is(err, errNoNode) {
			kind = fault.Unavailable
		}
		return p, fault.E(op, kind, p.String(), err)
	}
	return p.At(node), nil
}

// reached returns the name of a node as known here, if it is reached through a neighbour.
func (t *Tree) reached(from Hop, name string) (string, error) {
	if t.cfg.Lineage.Self(name) {
		return "", errForged
	}
	if !from.Above && strings.EqualFold(name, from.Name) {
		return from.Name, nil
	}
	child, known := t.cfg.Below.Behind(name)
	switch {
	case from.Above && child != "":
		return "", errForged
	case from.Above:
		return name, nil
	case child != "" && strings.EqualFold(child, from.Name):
		return known, nil
	case child != "" || t.cfg.Lineage.Taken(name) != "":
		return "", errForged
	}
	return "", errNoNode
}

// signed returns a request in the form in which it is sent. A local one is made for a caller of this node,
// under the neighbour's name for this node.
func (t *Tree) signed(r *Request, self string) ([]byte, error) {
	if r.own {
		if p, err := identity.ParsePrincipal(r.Caller); err == nil && p.Node == "" {
			r.For = p.At(self).String()
		}
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fault.E("tree.Relay", fault.Invalid, "request", err)
	}
	return body, nil
}

// By returns the neighbour through which a node is reached: the child on the way to it, otherwise the parent.
// Its name is empty if there is none.
func (t *Tree) By(name string) Hop {
	if child, _ := t.cfg.Below.Behind(name); child != "" {
		return Hop{Name: child}
	}
	above, _ := t.cfg.Parent()
	return Hop{Name: above.Name, Above: true}
}

// Reaches reports whether a node is connected to the tree, as far as known here: for one that is not a
// descendant, whether the parent is.
func (t *Tree) Reaches(name string) bool {
	if t.cfg.Lineage.Self(name) {
		return true
	}
	if node, _, below := t.cfg.Below.Find(name); below {
		return node.Away.IsZero()
	}
	above, is := t.cfg.Parent()
	return is && above.Online
}
