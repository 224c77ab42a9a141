package pki

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/fault"
)

// Fingerprint is the SHA-256 of the certificate of a node's authority. It identifies the node that a client
// talks to, whatever its name and address.
type Fingerprint [sha256.Size]byte

// String returns the fingerprint in hexadecimal.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

var errFingerprint = errors.New("is no fingerprint; it has 64 hexadecimal digits")

// ParseFingerprint is the inverse of String.
func ParseFingerprint(text string) (f Fingerprint, err error) {
	b, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(b) != len(f) {
		return f, fault.E("pki.ParseFingerprint", fault.Invalid, "fingerprint", errFingerprint)
	}
	return Fingerprint(b), nil
}

// Trust is what a node knows about another node's authority: the fingerprint that a person transferred, and
// the certificates learned over trusted connections.
type Trust struct {
	Fingerprint Fingerprint
	Authorities []*x509.Certificate
}

// ParseTrust parses a hexadecimal fingerprint and certificates in PEM, which may be empty.
func ParseTrust(fingerprint, authorities string) (t Trust, err error) {
	if t.Fingerprint, err = ParseFingerprint(fingerprint); err != nil {
		return t, err
	}
	for rest := []byte(authorities); len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return t, fault.E("pki.ParseTrust", fault.Corrupt, "authority", err)
		}
		t.Authorities = append(t.Authorities, cert)
	}
	return t, nil
}

var (
	errImpostor = errors.New("the certificate does not come from the authority with the known fingerprint: somebody else answers at " +
		"this address, or that node got a new authority; if it did, join it again with a new code")
	errTimes = errors.New("the certificate is not valid at this time; are both clocks right?")
)

// ClientConfig returns the configuration of a TLS 1.3 client that connects only to the node of this
// authority, whatever its name and address. learn, if not nil, is called with the authority's certificate in
// PEM at each successful handshake: it may be a new one that the old one endorsed. now is the clock.
func (t Trust) ClientConfig(now func() time.Time, learn func(authority string)) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// Names are irrelevant here: the authority signs for one node only, and VerifyConnection checks that
		// it did.
		InsecureSkipVerify: true, //nolint:gosec // see above
		VerifyConnection: func(state tls.ConnectionState) error {
			ca, err := t.verify(state.PeerCertificates, now())
			if err == nil && learn != nil {
				learn(encodeCert(ca))
			}
			return err
		},
	}
}

// verify returns the authority that signed the first certificate of a chain, if it is trusted.
func (t Trust) verify(chain []*x509.Certificate, now time.Time) (*x509.Certificate, error) {
	if len(chain) < 2 {
		return nil, fault.E("pki.verify", fault.Refused, "certificate", errImpostor)
	}
	server, ca := chain[0], chain[1]
	if !t.trusts(ca, chain[2:], now) || server.CheckSignatureFrom(ca) != nil {
		return nil, fault.E("pki.verify", fault.Refused, "certificate", errImpostor)
	}
	for _, c := range []*x509.Certificate{server, ca} {
		if now.Before(c.NotBefore) || now.After(c.NotAfter) {
			return nil, fault.E("pki.verify", fault.Refused, "certificate", fmt.Errorf(
				"%w It holds from %s to %s, and it is %s here", errTimes,
				c.NotBefore.UTC().Format(time.RFC3339), c.NotAfter.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339)))
		}
	}
	return ca, nil
}

// trusts reports whether an authority is the known one, or is endorsed by it.
func (t Trust) trusts(ca *x509.Certificate, endorsements []*x509.Certificate, now time.Time) bool {
	if !ca.IsCA {
		return false
	}
	if Fingerprint(sha256.Sum256(ca.Raw)) == t.Fingerprint {
		return true
	}
	for _, known := range t.Authorities {
		if known.Equal(ca) {
			return true
		}
		for _, e := range endorsements {
			if e.IsCA && now.Before(e.NotAfter) && string(e.RawSubjectPublicKeyInfo) == string(ca.RawSubjectPublicKeyInfo) && e.CheckSignatureFrom(known) == nil {
				return true
			}
		}
	}
	return false
}

func encodeCert(c *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
}
