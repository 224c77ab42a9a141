package pki

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
)

// deviceLife is how long the certificate of a device is valid.
const deviceLife = 2 * 365 * 24 * time.Hour

// DeviceCertificate is a certificate for a device, with its key, which is not stored here.
type DeviceCertificate struct {
	Certificate, Key, Authority string // PEM
	Fingerprint                 [sha256.Size]byte
	Expires                     time.Time
}

// IssueDevice creates a certificate that names a device, signed by the authority.
func (c *Certificates) IssueDevice(device string) (DeviceCertificate, error) {
	if _, err := c.current(); err != nil {
		return DeviceCertificate{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	i, err := issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: device}, NotBefore: now.Add(-clockSkew), NotAfter: now.Add(deviceLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, c.authority)
	if err != nil {
		return DeviceCertificate{}, fault.E("pki.IssueDevice", fault.Internal, device, err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		return DeviceCertificate{}, fault.E("pki.IssueDevice", fault.Internal, device, err)
	}
	return DeviceCertificate{
		Certificate: encodeCert(i.cert), Key: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		Authority: encodeCert(c.authority.cert), Fingerprint: sha256.Sum256(i.cert.Raw), Expires: i.cert.NotAfter,
	}, nil
}

// DeviceConfig returns the configuration of a server for devices. Many of them do not support TLS 1.3. A device may show a certificate of
// this authority; with any other, its connection ends, and refused is told the name in it, which is only a claim, and why.
func (c *Certificates) DeviceConfig(refused func(device string, why error)) *tls.Config {
	pool := x509.NewCertPool()
	c.mu.Lock()
	pool.AddCert(c.authority.cert)
	c.mu.Unlock()
	config := c.ServerConfig()
	config.MinVersion, config.ClientAuth, config.ClientCAs = tls.VersionTLS12, tls.RequestClientCert, pool
	config.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return nil
		}
		device := s.PeerCertificates[0].Subject.CommonName
		err := c.judgeDevice(s.PeerCertificates, pool)
		if err != nil {
			refused(device, err)
		}
		return err
	}
	return config
}

// judgeDevice says why the certificate of a device, with those that it sent beside, is not accepted; nil if it is.
func (c *Certificates) judgeDevice(chain []*x509.Certificate, roots *x509.CertPool) error {
	between := x509.NewCertPool()
	for _, one := range chain[1:] {
		between.AddCert(one)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: c.now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	var invalid x509.CertificateInvalidError
	switch ends := chain[0].NotAfter; {
	case err == nil:
		return nil
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && c.now().After(ends):
		return fmt.Errorf("its certificate ended %s: make a new one with \"voltbus mqtt certify\"", ends.Format(time.DateOnly))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("its certificate is valid from %s on: set the clock of this node", chain[0].NotBefore.Format(time.DateOnly))
	}
	return fmt.Errorf("its certificate is not one that this node made for a device: %w", err)
}
