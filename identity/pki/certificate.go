package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"voltbus/fault"
	"voltbus/identity/keyfile"
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	serverLife    = 397 * 24 * time.Hour // the longest that browsers accept
	clockSkew     = 24 * time.Hour       // how far a client's clock may be behind ours
)

// issued is a certificate with its key, as stored on disk.
type issued struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// fresh reports whether the certificate is valid now and for another third of its life.
func (i *issued) fresh(now time.Time) bool {
	life := i.cert.NotAfter.Sub(i.cert.NotBefore)
	return now.After(i.cert.NotBefore) && now.Before(i.cert.NotAfter.Add(-life/3))
}

// newAuthority creates a certificate that signs others.
func newAuthority(node string, now time.Time) (*issued, error) {
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "Voltbus node " + node + " authority"},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	return issue(template, nil)
}

// newServer creates a certificate for the names and addresses, signed by the authority.
func newServer(node string, names []string, authority *issued, now time.Time) (*issued, error) {
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "Voltbus node " + node},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(serverLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return issue(template, authority)
}

// issue signs the template with the authority, or with its own key if there is none.
func issue(template *x509.Certificate, authority *issued) (*issued, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	parent, signer := template, key
	if authority != nil {
		parent, signer = authority.cert, authority.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read back a certificate: %w", err)
	}
	return &issued{cert: cert, key: key}, nil
}

// endorsement makes the previous authority sign the key of a new one, valid as long as the previous one.
func endorsement(a, before *issued) (*x509.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: a.cert.SerialNumber, Subject: a.cert.Subject, NotBefore: a.cert.NotBefore, NotAfter: before.cert.NotAfter,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: a.cert.KeyUsage,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, before.cert, a.key.Public(), before.key)
	if err != nil {
		return nil, fmt.Errorf("endorse a certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// save writes certificate and key, the key first: a crash between the two leaves a mismatched pair, which
// load reports and which is then replaced.
func (i *issued) save(certFile, keyFile string) error {
	cert, key, err := i.encode()
	if err != nil {
		return err
	}
	if err := keyfile.Write(keyFile, key, keyfile.Private); err != nil {
		return err
	}
	return keyfile.Write(certFile, cert, keyfile.Public)
}

// encode returns both in PEM.
func (i *issued) encode() (cert, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		return nil, nil, fault.E("pki.encode", fault.Internal, i.cert.Subject.CommonName, err)
	}
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw}), key, nil
}

var errPair = errors.New("certificate and key do not fit")

// load reads a pair. fault.NotFound and fault.Corrupt require a new one.
func load(certFile, keyFile string) (*issued, error) {
	keyPEM, err := keyfile.Read(keyFile)
	if err != nil {
		return nil, err
	}
	certPEM, err := os.ReadFile(certFile)
	if err != nil {
		return nil, keyfile.Fault("pki.load", certFile, err)
	}
	cert, err := parseCert(certPEM)
	if err != nil {
		return nil, fault.E("pki.load", fault.Corrupt, certFile, err)
	}
	key, err := parseKey(keyPEM)
	if err != nil {
		return nil, fault.E("pki.load", fault.Corrupt, keyFile, err)
	}
	if public, ok := cert.PublicKey.(*ecdsa.PublicKey); !ok || !public.Equal(key.Public()) {
		return nil, fault.E("pki.load", fault.Corrupt, keyFile, errPair)
	}
	return &issued{cert: cert, key: key}, nil
}

func parseCert(b []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("does not hold a certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}

func parseKey(b []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("does not hold a private key")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("is not an ECDSA key")
	}
	return ec, nil
}

// CheckCertificate returns what is wrong with the content of a file that should hold a certificate in PEM.
func CheckCertificate(content []byte) error {
	_, err := parseCert(content)
	return err
}

// CheckPrivateKey returns what is wrong with the content of a file that should hold a private key in PEM.
func CheckPrivateKey(content []byte) error {
	_, err := parseKey(content)
	return err
}
