package sc

import (
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

// LoadCertificates reads the operational certificate with its key, and the certificates of the issuers, from PEM files.
func LoadCertificates(certificate, key, issuers string) (Certificates, error) {
	own, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return Certificates{}, fmt.Errorf("certificate %s with key %s: %w", certificate, key, err)
	}
	text, err := os.ReadFile(issuers)
	if err != nil {
		return Certificates{}, fmt.Errorf("issuers: %w", err)
	}
	c := Certificates{Own: own, Issuer: x509.NewCertPool()}
	if !c.Issuer.AppendCertsFromPEM(text) {
		return Certificates{}, fmt.Errorf("issuers: %s holds no certificate; write those of the certificate authority as PEM", issuers)
	}
	return c, nil
}

// ErrCertificate says that the other end shows no certificate that one of the issuers made, or one that is not valid now.
var ErrCertificate = errors.New("the certificate of the other end is not accepted")

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
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	return nil
}
