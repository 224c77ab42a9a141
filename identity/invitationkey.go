package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"

	"voltbus/fault"
)

// InviteSecret is what an invitation's key is made from: 128 random bits, short enough to be read
// out or shown as a QR code.
type InviteSecret [16]byte

// NewInviteSecret returns a new one.
func NewInviteSecret() (s InviteSecret) {
	_, _ = rand.Read(s[:]) // never fails, see its documentation
	return s
}

// Key returns the key of the invitation. It has no file.
func (s InviteSecret) Key() (*Key, error) {
	seed := sha256.Sum256(append([]byte("voltbus invitation 1\n"), s[:]...))
	pair, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, seed[:])
	if err != nil {
		return nil, fault.E("identity.InviteSecret", fault.Internal, "", fmt.Errorf("make a key: %w", err))
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fault.E("identity.InviteSecret", fault.Internal, "", fmt.Errorf("make a key: %w", err))
	}
	return &Key{pair: pair, public: public}, nil
}

// InviteID returns the name of an invitation with a public key: eight letters and digits.
func InviteID(public string) string { return KeyPrint(public)[:idChars] }

const (
	idChars    = 8
	printChars = 16
)

// KeyPrint returns what people compare of a public key: 16 letters and digits of its hash, which
// nobody can hit with another key.
func KeyPrint(public string) string {
	sum := sha256.Sum256([]byte(public))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:printChars])
}
