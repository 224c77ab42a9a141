package client

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"time"
)

// keyBits is the size of a new key: all security policies take it (Part 7, clause 6.6).
const keyBits = 2048

// Identity is an application instance: its certificate with the key.
type Identity struct {
	Certificate []byte // DER
	Key         *rsa.PrivateKey
	URI         string // of the application, as in the certificate
}

// NewCertificate makes a certificate that is its own authority, for an application on a host (Part 6, clause 6.2.2), and returns
// it and its key as PEM.
func NewCertificate(host string, valid time.Duration) (cert, key []byte, err error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now().UTC().Truncate(time.Second)
	about := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Voltbus on " + host, Organization: []string{"Voltbus"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(valid), BasicConstraintsValid: true, IsCA: false,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment | x509.KeyUsageKeyEncipherment | x509.KeyUsageDataEncipherment | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{host}, URIs: []*url.URL{{Scheme: "urn", Opaque: url.PathEscape(host) + ":voltbus"}},
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}

// ParseIdentity reads a certificate and its key, as PEM.
func ParseIdentity(cert, key []byte) (id Identity, err error) {
	der := DER(cert)
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return id, fmt.Errorf("the certificate cannot be read: %w", err)
	}
	secret := DER(key)
	private, err := x509.ParsePKCS8PrivateKey(secret)
	if err != nil {
		if private, err = x509.ParsePKCS1PrivateKey(secret); err != nil {
			return id, errors.New("the key cannot be read; write a PEM file with an RSA key that is not encrypted")
		}
	}
	k, is := private.(*rsa.PrivateKey)
	if !is || !k.PublicKey.Equal(parsed.PublicKey) {
		return id, errors.New("the key is no RSA key of the certificate; write two files that belong together")
	}
	if len(parsed.URIs) == 0 {
		return id, errors.New("the certificate names no application; it needs a URI among its alternative names")
	}
	return Identity{Certificate: der, Key: k, URI: parsed.URIs[0].String()}, nil
}

// DER returns the first block of a PEM file, or the bytes as they are.
func DER(data []byte) []byte {
	if block, _ := pem.Decode(data); block != nil {
		return block.Bytes
	}
	return data
}

// Fingerprint names a certificate for people: the SHA-256 of its first one, in hexadecimal digits.
func Fingerprint(der []byte) string {
	if cert, err := leaf(der); err == nil {
		der = cert.Raw
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// KeyBlock returns the part of a PEM file that is a private key.
func KeyBlock(data []byte) []byte {
	for rest := data; ; {
		block, after := pem.Decode(rest)
		if block == nil || strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return pem.EncodeToMemory(cmp.Or(block, &pem.Block{}))
		}
		rest = after
	}
}

// Blocks returns the certificates of a PEM file, as DER; a file that is no PEM is one certificate.
func Blocks(data []byte) (list [][]byte) {
	for rest := data; ; {
		block, after := pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type == "CERTIFICATE" {
			list = append(list, block.Bytes)
		}
		rest = after
	}
	if len(list) == 0 && len(data) > 0 {
		list = append(list, data)
	}
	return list
}
