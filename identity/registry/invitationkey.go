package registry

import (
	"crypto/rand"
	"crypto/sha256"

	"voltbus/identity"
)

// InviteSecret is the seed of an invitation's key: 128 random bits, short enough to be read aloud or shown as
// a QR code.
type InviteSecret [16]byte

// NewInviteSecret returns a new one.
func NewInviteSecret() (s InviteSecret) {
	_, _ = rand.Read(s[:]) // never fails, see its documentation
	return s
}

// Key returns the key of the invitation. It has no file.
func (s InviteSecret) Key() (*identity.Key, error) {
	seed := sha256.Sum256(append([]byte("voltbus invitation 1\n"), s[:]...))
	return identity.SeedKey(seed)
}

// InviteID returns the ID of the invitation with a public key: eight letters and digits.
func InviteID(public string) string { return identity.KeyPrint(public)[:idChars] }

// idChars is the length of an invitation's ID.
const idChars = 8
