package pki

import (
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
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
