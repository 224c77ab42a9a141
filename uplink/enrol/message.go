package enrol

import (
	"voltbus/point"
)

// The methods that a child and the holder of an invitation ask their parent for.
const (
	MethodEnrol  = "enrol"      // Request → Welcome; by the holder of an invitation
	MethodRotate = "rotate"     // Rotation → Welcome
	MethodWho    = "membership" // nothing → Welcome
)

// Request is how a node asks to become a child.
type Request struct {
	Name    string `json:"name,omitempty"` // what it wants to be called; "" for what the invitation says, or else Node
	Node    string `json:"node"`           // what it calls itself
	Public  string `json:"public"`         // the key that it made
	Proof   []byte `json:"proof"`          // signature by that key, see registry.JoinText
	Version string `json:"version"`        // of its program
}

// Welcome is what a parent tells a child about itself.
type Welcome struct {
	Node      string     `json:"node"`      // the parent's name
	Name      string     `json:"name"`      // the child's
	Prefix    point.Path `json:"prefix"`    // below which its points are taken; "" for everywhere
	State     State      `json:"state"`     // pending or approved
	Authority string     `json:"authority"` // the certificate of the parent's authority, PEM
}

// Rotation asks for a new key.
type Rotation struct {
	Public  string `json:"public"`  // the new one
	Proof   []byte `json:"proof"`   // signature by the new one, see registry.RotateText
	Consent []byte `json:"consent"` // signature by the old one
}
