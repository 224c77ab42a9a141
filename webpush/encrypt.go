package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

// Keys are what a browser gives with a subscription, for the encryption of messages to it (RFC 8291, clause 2).
type Keys struct {
	P256dh string `json:"p256dh"` // its public key, a point of the curve P-256, in base64url
	Auth   string `json:"auth"`   // its secret of 16 bytes, in base64url
}

const (
	saltSize   = 16
	authSize   = 16
	recordSize = 4096
	// MostText is how many bytes a message may have: a push service takes 4,096 bytes (RFC 8030, 7.2), with the header, the delimiter and the tag.
	MostText = recordSize - saltSize - 4 - 1 - 65 - 1 - 16
)

// decode reads base64url with or without padding.
func decode(text string) ([]byte, error) {
	for len(text) > 0 && text[len(text)-1] == '=' {
		text = text[:len(text)-1]
	}
	return base64.RawURLEncoding.DecodeString(text)
}

var errKeys = errors.New("the keys of the subscription are not those of a browser (p256dh: 65 bytes on P-256, auth: 16 bytes, both in base64url)")

func (k *Keys) parse() (public *ecdh.PublicKey, auth []byte, err error) {
	point, bad := decode(k.P256dh)
	auth, err = decode(k.Auth)
	if bad != nil || err != nil || len(auth) != authSize {
		return nil, nil, errKeys
	}
	if public, err = ecdh.P256().NewPublicKey(point); err != nil {
		return nil, nil, errKeys
	}
	return public, auth, nil
}

// encrypt returns a message as the body of a request to a push service: one record of aes128gcm (RFC 8188) with the keys of RFC 8291, clause 3.4. own and
// salt are fresh for each message.
func encrypt(text []byte, to *Keys, own *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(text) > MostText {
		return nil, fmt.Errorf("the message has %d bytes; %d are possible", len(text), MostText)
	}
	public, auth, err := to.parse()
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(public.Bytes()) + string(own.PublicKey().Bytes())
	secret, err := hkdf.Key(sha256.New, shared, auth, info, sha256.Size)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", aes.BlockSize)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	id := own.PublicKey().Bytes()
	out := binary.BigEndian.AppendUint32(append([]byte(nil), salt...), recordSize)
	out = append(append(out, byte(len(id))), id...) // 65
	return gcm.Seal(out, nonce, append(append([]byte(nil), text...), lastRecord), nil), nil
}

// lastRecord delimits the text of the last record (RFC 8188, clause 2).
const lastRecord = 2
