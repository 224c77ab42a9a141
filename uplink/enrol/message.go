package enrol

import (
	"voltbus/point"
)

// The methods that a child or the holder of an invitation calls on the parent.
const (
	MethodEnrol  = "enrol"      // Request → Welcome; by the holder of an invitation
	MethodRotate = "rotate"     // Rotation → Welcome
	MethodWho    = "membership" // nothing → Welcome
)

// Request is a node's request to become a child.
type Request struct {
	Name    string `json:"name,omitempty"` // the name it asks for; "" for the invitation's, or else Node
	Node    string `json:"node"`           // its own name
	Public  string `json:"public"`         // the key that it generated
	Proof   []byte `json:"proof"`          // signature by that key, see registry.JoinText
	Version string `json:"version"`        // version of its program
}

// Welcome is what a parent tells a child about itself.
type Welcome struct {
	Node      string     `json:"node"`      // the parent's name
	Name      string     `json:"name"`      // the child's
	Prefix    point.Path `json:"prefix"`    // below which its points are accepted; "" for anywhere
	State     State      `json:"state"`     // pending or approved
	Authority string     `json:"authority"` // the certificate of the parent's authority, PEM
}

// Rotation requests a change of key.
type Rotation struct {
	Public  string `json:"public"`  // the new one
	Proof   []byte `json:"proof"`   // signature by the new one, see registry.RotateText
	Consent []byte `json:"consent"` // signature by the old one
}
