package webpush

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"time"
)

// identity is the key by which push services know this node (VAPID, RFC 8292).
type identity struct {
	private *ecdh.PrivateKey
}

func newIdentity() (identity, error) {
	k, err := ecdh.P256().GenerateKey(rand.Reader)
	return identity{k}, err
}

var errKey = errors.New("the key is not one of the curve P-256")

func readIdentity(text string) (identity, error) {
	raw, err := decode(text)
	if err != nil {
		return identity{}, errKey
	}
	k, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return identity{}, errKey
	}
	return identity{k}, nil
}

func (i identity) text() string { return base64.RawURLEncoding.EncodeToString(i.private.Bytes()) }

// public is the applicationServerKey that a browser subscribes with.
func (i identity) public() string {
	return base64.RawURLEncoding.EncodeToString(i.private.PublicKey().Bytes())
}

// validity is how long a signature counts; RFC 8292, clause 2, allows 24 hours.
const validity = 12 * time.Hour

// authorization is the header that says who sends (RFC 8292, clause 3): a JSON web token signed with ES256 for the origin of the push service. contact is
// whom the service may write to, as a mailto: or https: address.
func (i identity) authorization(endpoint *url.URL, contact string, now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{"aud": endpoint.Scheme + "://" + endpoint.Host, "exp": now.Add(validity).Unix(), "sub": contact})
	if err != nil {
		return "", err
	}
	part := base64.RawURLEncoding.EncodeToString
	signed := part([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + part(claims)
	hash := sha256.Sum256([]byte(signed))
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), i.private.Bytes())
	if err != nil {
		return "", err
	}
	r, s, err := ecdsa.Sign(rand.Reader, key, hash[:])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("vapid t=%s.%s,k=%s", signed, part(append(fixed(r), fixed(s)...)), i.public()), nil
}

// fixed is a number of the curve as 32 bytes (RFC 7518, 3.4).
func fixed(n *big.Int) []byte { return n.FillBytes(make([]byte, 32)) }
