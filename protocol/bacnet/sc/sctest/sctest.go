// Package sctest makes BACnet/SC networks for tests: an [Authority] that issues certificates, and a [Hub] on loopback.
package sctest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"voltbus/protocol/bacnet/sc"
)

// Authority issues certificates, as the one of a site does.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

// NewAuthority returns an authority whose certificate is valid now.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &Authority{key: key, serial: 1}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "site"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, SubjectKeyId: []byte{1, 2, 3, 4},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	return a
}

// Validity is when a certificate is valid.
type Validity struct{ From, Until time.Time }

// Soon is a time at which tests are over.
func Soon() time.Time { return time.Now().Add(time.Hour) }

// Ends is a validity that began two hours ago.
func Ends(until time.Time) Validity {
	return Validity{From: time.Now().Add(-2 * time.Hour), Until: until}
}

// Issue makes a certificate and its key, as PEM. It is for the usages, or for clients and servers if there are none.
func (a *Authority) Issue(t testing.TB, name string, v Validity, usages ...x509.ExtKeyUsage) (certificate, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if len(usages) == 0 {
		usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: name}, NotBefore: v.From, NotAfter: v.Until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usages,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, AuthorityKeyId: a.certificate.SubjectKeyId,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// PEM is the certificate of the authority.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Certificates are those of a node or a hub, which end at a time.
func (a *Authority) Certificates(t testing.TB, name string, until time.Time) sc.Certificates {
	t.Helper()
	return a.Valid(t, name, Ends(until))
}

// Valid are the certificates of a node or a hub that are valid at a time.
func (a *Authority) Valid(t testing.TB, name string, v Validity, usages ...x509.ExtKeyUsage) sc.Certificates {
	t.Helper()
	certificate, key := a.Issue(t, name, v, usages...)
	c, err := sc.ParseCertificates(certificate, key, a.PEM())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Files writes certificate, key and authority of each name into a folder, as name.pem, name.key and ca.pem.
func (a *Authority) Files(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		certificate, key := a.Issue(t, name, Ends(Soon()))
		for file, text := range map[string][]byte{name + ".pem": certificate, name + ".key": key, "ca.pem": a.PEM()} {
			if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Hub runs a hub at an address until the test ends, or the function that it returns is called.
func Hub(t testing.TB, a *Authority, address string) (hub *sc.Hub, url string, stop func()) {
	t.Helper()
	return HubWith(t, a.Certificates(t, "hub", Soon()), address)
}

// HubWith is Hub with other certificates.
func HubWith(t testing.TB, c sc.Certificates, address string) (hub *sc.Hub, url string, stop func()) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	hub = sc.NewHub(sc.HubConfig{VMAC: sc.VMAC{2, 0, 0, 0, 0, 0xFF}, UUID: sc.UUID{0xFF}, Certificates: c})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- hub.Run(ctx, l) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("the hub: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return hub, "wss://" + l.Addr().String() + "/", stop
}
