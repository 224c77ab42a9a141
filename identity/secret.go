package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// Hash is the SHA-256 of a secret. The secrets are random and 256 bits long, so a plain hash cannot be
// reversed, and looking one up leaks nothing about others.
type Hash [sha256.Size]byte

const secretBytes = 32

var errSecret = errors.New("a token is 43 letters, digits, - and _; copy it whole, without quotes")

// newSecret returns 32 random bytes in base64 for URLs, 43 characters.
func newSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails, see its documentation
	return base64.RawURLEncoding.EncodeToString(b)
}

// hashSecret returns the hash of a well-formed secret.
func hashSecret(secret string) (Hash, error) {
	secret = strings.TrimSpace(secret)
	if len(secret) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return Hash{}, errSecret
	}
	if _, err := base64.RawURLEncoding.DecodeString(secret); err != nil {
		return Hash{}, errSecret
	}
	return sha256.Sum256([]byte(secret)), nil
}
