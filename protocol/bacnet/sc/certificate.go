package sc

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

// Certificates are what a node shows, and by whom those of others must be issued (AB.7.4).
type Certificates struct {
	Own    tls.Certificate
	Issuer *x509.CertPool
}

// Why certificates cannot be used.
var (
	errPair   = errors.New("certificate and key cannot be used together; write two PEM files that belong together")
	errIssuer = errors.New("the file of the authority holds no certificate; write those of the authority as PEM")
)

// LoadCertificates reads the operational certificate with its key, and the certificates of the issuers, from PEM files.
func LoadCertificates(certificate, key, issuers string) (Certificates, error) {
	var texts [3][]byte
	for i, name := range []string{certificate, key, issuers} {
		text, err := os.ReadFile(name)
		if err != nil {
			return Certificates{}, err
		}
		texts[i] = text
	}
	c, err := ParseCertificates(texts[0], texts[1], texts[2])
	if err != nil {
		return Certificates{}, fmt.Errorf("%s, %s, %s: %w", certificate, key, issuers, err)
	}
	return c, nil
}

// ParseCertificates takes the same as LoadCertificates as PEM texts.
func ParseCertificates(certificate, key, issuers []byte) (Certificates, error) {
	own, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return Certificates{}, fmt.Errorf("%w (%w)", errPair, err)
	}
	c := Certificates{Own: own, Issuer: x509.NewCertPool()}
	if !c.Issuer.AppendCertsFromPEM(issuers) {
		return Certificates{}, errIssuer
	}
	return c, nil
}

// Identity returns the address and the UUID of the device that has the certificate, always the same ones for the same salt. Devices that
// share a certificate need different salts.
func (c Certificates) Identity(salt string) (VMAC, UUID) {
	var own [sha256.Size]byte
	if len(c.Own.Certificate) > 0 {
		own = sha256.Sum256(c.Own.Certificate[0])
	}
	hash := sha256.Sum256(append(own[:], salt...))
	u := UUID(hash[:16])
	u[6], u[8] = u[6]&0x0F|0x80, u[8]&0x3F|0x80 // version 8 of RFC 9562
	v := VMAC(hash[16:22])
	v[0] = v[0]&0xF0 | randomVMAC
	return v, u
}

// hub is the configuration of a hub.
func (c Certificates) hub() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c.Own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: c.Issuer}
}

// node is the configuration of a node. Whoever has a certificate of the issuer is trusted: certificates of devices do not name the
// hosts on which they are (AB.7.4).
func (c Certificates) node() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c.Own},
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection checks the chain and the time, without a host's name
		VerifyConnection:   c.verify,
	}
}

// Valid says that the own certificate has expired, or is not valid yet; nil if it is valid.
func (c Certificates) Valid(now time.Time) error {
	if leaf := c.Own.Leaf; leaf != nil {
		return outOfTime("the own certificate", leaf, now)
	}
	return nil
}

func (c Certificates) verify(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return ErrCertificate
	}
	between := x509.NewCertPool()
	for _, one := range s.PeerCertificates[1:] {
		between.AddCert(one)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: c.Issuer, Intermediates: between, CurrentTime: time.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return explainVerify(s.PeerCertificates[0], err, time.Now())
}
