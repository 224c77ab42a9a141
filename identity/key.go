package identity

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"

	"voltbus/fault"
	"voltbus/identity/keyfile"
)

// Key is an Ed25519 key pair in the nkey form of a bus user. It is immutable and safe for
// concurrent use. The private half never leaves it, except into its file.
type Key struct {
	pair   nkeys.KeyPair
	public string
	file   string
}

// OpenKey reads the key in file creating it first if the file does not exist. A file that others may read
// gives fault.Refused, one that holds no key fault.Corrupt.
func OpenKey(file string) (*Key, error) {
	k, err := ReadKey(file)
	switch {
	case fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Invalid):
		return nil, fault.E("identity.OpenKey", fault.KindOf(err), "", fmt.Errorf(
			"%w; restore it from a copy, or get a new one: mv '%s' '%s.damaged'", err, file, file))
	case !fault.Is(err, fault.NotFound):
		return k, err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, fault.E("identity.OpenKey", fault.Internal, file, fmt.Errorf("make a key: %w", err))
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, fault.E("identity.OpenKey", fault.Internal, file, fmt.Errorf("make a key: %w", err))
	}
	if err := keyfile.Write(file, append(seed, '\n'), keyfile.Private); err != nil {
		return nil, err
	}
	return ReadKey(file)
}

// ReadKey reads the key in file; fault.NotFound if it does not exist.
func ReadKey(file string) (*Key, error) {
	b, err := keyfile.Read(file)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.FromSeed(bytes.TrimSpace(b))
	if err != nil {
		return nil, corruptKey(file, err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, corruptKey(file, err)
	}
	if !nkeys.IsValidPublicUserKey(public) {
		return nil, corruptKey(file, fmt.Errorf("%.1s… is not a user key", public))
	}
	return &Key{pair: pair, public: public, file: file}, nil
}

func corruptKey(file string, err error) error {
	return fault.E("identity.ReadKey", fault.Corrupt, file, fmt.Errorf("does not hold a key: %w", err))
}

// Public returns the public half, 56 characters that begin with "U".
func (k *Key) Public() string { return k.public }

// File returns the name of the file that holds the key.
func (k *Key) File() string { return k.file }

// Sign returns the signature of the bytes, as a bus server requests it at the start of a connection.
func (k *Key) Sign(b []byte) ([]byte, error) {
	sig, err := k.pair.Sign(b)
	if err != nil {
		return nil, fault.E("identity.Sign", fault.Internal, k.public, err)
	}
	return sig, nil
}

// Verify reports whether sig is a signature of b by the holder of the public key.
func Verify(public string, b, sig []byte) bool {
	pair, err := nkeys.FromPublicKey(public)
	return err == nil && pair.Verify(b, sig) == nil
}

// IsPublicKey reports whether the text is the public half of a key.
func IsPublicKey(text string) bool { return nkeys.IsValidPublicUserKey(text) }

// SeedKey returns the key derived from a seed. It has no file.
func SeedKey(seed [32]byte) (*Key, error) {
	const op = "identity.SeedKey"
	pair, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, seed[:])
	if err != nil {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("make a key: %w", err))
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("make a key: %w", err))
	}
	return &Key{pair: pair, public: public}, nil
}

// printChars is how many letters and digits KeyPrint returns.
const printChars = 16

// KeyPrint returns the fingerprint of a public key that people compare: 16 letters and digits of its hash,
// too many for a collision.
func KeyPrint(public string) string {
	sum := sha256.Sum256([]byte(public))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:printChars])
}
