package identity

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// Argon2id as described in RFC 9106. 19 MiB and two passes are what small machines can afford for each login;
// a guess costs an attacker the same.
const (
	argonPasses  = 2
	argonMemory  = 19 << 10 // KiB
	argonThreads = 1
	saltBytes    = 16
	keyBytes     = 32
)

// Length limits of a password in bytes.
const (
	minPassword = 10
	maxPassword = 256
)

var (
	errPassword = fmt.Errorf("needs %d to %d bytes; several words are a good password", minPassword, maxPassword)
	errEncoded  = errors.New("the kept password cannot be read; set a new one")
)

// checkPassword returns why the text cannot be the password of the user.
func checkPassword(name, password string) error {
	switch {
	case len(password) < minPassword || len(password) > maxPassword || !utf8.ValidString(password):
		return errPassword
	case guessable(name, password):
		return errGuessable
	}
	return nil
}

// hashPassword encodes a password with a new salt as "$argon2id$v=19$m=…,t=…,p=…$salt$key".
func hashPassword(password string) string {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails, see its documentation
	key := argon2.IDKey([]byte(password), salt, argonPasses, argonMemory, argonThreads, keyBytes)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonPasses, argonThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// Bounds of the parameters of an encoded password: the catalogue may come from another machine.
const (
	maxMemory = 1 << 20 // KiB
	maxPasses = 64
)

// verifyPassword reports whether the password is the encoded one. It takes the same time for a wrong password
// as for the right one.
func verifyPassword(encoded, password string) (bool, error) {
	parts := strings.Split(encoded, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false, errEncoded
	}
	var memory, passes uint32
	var threads uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &threads); err != nil {
		return false, errEncoded
	}
	salt, serr := base64.RawStdEncoding.DecodeString(parts[4])
	want, kerr := base64.RawStdEncoding.DecodeString(parts[5])
	if serr != nil || kerr != nil || len(want) == 0 || passes < 1 || threads < 1 || memory > maxMemory || passes > maxPasses {
		return false, errEncoded
	}
	got := argon2.IDKey([]byte(password), salt, passes, memory, threads, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}
