package pki_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/identity/pki"
)

// authority is one that others run.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	next int64
}

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign})
	return a
}

// sign makes a certificate; one of its own without an authority.
func (a *authority) sign(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.next++
	c.SerialNumber = big.NewInt(a.next)
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = noon().Add(-time.Hour), noon().Add(24*time.Hour)
	}
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return out, key
}

// meter makes a certificate for a client.
func (a *authority) meter(name string) *x509.Certificate {
	c, _ := a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return c
}

// revoke writes a list of revoked certificates.
func (a *authority) revoke(file string, next time.Time, list ...*x509.Certificate) {
	a.t.Helper()
	template := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: next.Add(-2 * time.Hour), NextUpdate: next}
	for _, c := range list {
		template.RevokedCertificateEntries = append(template.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: c.SerialNumber, RevocationTime: noon()})
	}
	der, err := x509.CreateRevocationList(rand.Reader, template, a.cert, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	write(a.t, file, pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func pemOf(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

func TestAttackOnlyValidCertificatesOfAnAuthorityNameASender(t *testing.T) {
	ca, other := newAuthority(t, "maker"), newAuthority(t, "maker")
	file, list := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "crl.pem")
	write(t, file, pemOf(ca.cert))
	good, revoked := ca.meter("1EMH0001"), ca.meter("1EMH0002")
	ca.revoke(list, noon().Add(time.Hour), revoked)
	s, err := pki.OpenSenders(file, list)
	if err != nil {
		t.Fatal(err)
	}
	server, _ := ca.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "1EMH0001"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	later, _ := ca.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "m"}, NotBefore: noon().Add(time.Hour), NotAfter: noon().Add(2 * time.Hour)})
	middle, middleKey := ca.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "middle"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	below := &authority{t: t, cert: middle, key: middleKey, next: 100}
	for _, tt := range []struct {
		name  string
		chain []*x509.Certificate
		at    time.Time
		want  string // the name, or what is wrong
	}{
		{"a valid certificate", []*x509.Certificate{good}, noon(), "1EMH0001"},
		{"again", []*x509.Certificate{good}, noon(), "1EMH0001"},
		{"below an intermediate authority", []*x509.Certificate{below.meter("m3"), middle}, noon(), "m3"},
		{"without the intermediate authority", []*x509.Certificate{below.meter("m3")}, noon(), "signed by none of the authorities"},
		{"of another authority of the same name", []*x509.Certificate{other.meter("1EMH0001")}, noon(), "signed by none of the authorities"},
		{"with its own authority in the chain", []*x509.Certificate{other.meter("1EMH0001"), other.cert}, noon(), "signed by none of the authorities"},
		{"revoked", []*x509.Certificate{revoked}, noon(), "was revoked"},
		{"not valid yet", []*x509.Certificate{later}, noon(), "is valid from 2026-03-01 on"},
		{"of a server", []*x509.Certificate{server}, noon(), "extended key usage clientAuth"},
		{"without a name", []*x509.Certificate{ca.meter("")}, noon(), "has no common name"},
		{"of a folder", []*x509.Certificate{ca.meter("a/b")}, noon(), "is no id of a meter"},
		{"of the folder above", []*x509.Certificate{ca.meter("..")}, noon(), "is no id of a meter"},
		{"with a long name", []*x509.Certificate{ca.meter(strings.Repeat("x", 65))}, noon(), "is no id of a meter"},
	} {
		name, err := s.Name(tt.chain, tt.at)
		if name != tt.want && (err == nil || !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tt.want) || name != "") {
			t.Errorf("%s: %q, %v; want %s", tt.name, name, err, tt.want)
		}
	}
	ca.revoke(list, noon().Add(48*time.Hour), revoked, good, good)
	if _, err := s.Name([]*x509.Certificate{good}, noon()); err == nil || !strings.Contains(err.Error(), "was revoked") {
		t.Errorf("revoked after it was accepted: %v", err)
	}
	ca.revoke(list, noon().Add(48*time.Hour))
	if _, err := s.Name([]*x509.Certificate{good}, noon().Add(25*time.Hour)); err == nil || !strings.Contains(err.Error(), "expired on 2026-03-02") {
		t.Errorf("expired: %v", err)
	}
}

func TestAttackAListOfRevokedCertificatesThatIsNotRightRefusesAll(t *testing.T) {
	ca, other := newAuthority(t, "maker"), newAuthority(t, "other")
	file, list := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "crl.pem")
	write(t, file, pemOf(ca.cert))
	ca.revoke(list, noon().Add(time.Hour))
	s, err := pki.OpenSenders(file, list)
	if err != nil {
		t.Fatal(err)
	}
	good := []*x509.Certificate{ca.meter("m")}
	for _, tt := range []struct {
		change func()
		want   string
	}{
		{func() { ca.revoke(list, noon().Add(-time.Hour), good[0]) }, "is out of date since 2026-03-01"},
		{func() { other.revoke(list, noon().Add(time.Hour), good[0], good[0]) }, "signed by none of the authorities"},
		{func() { write(t, list, []byte("x")) }, "no list of revoked certificates"},
		{func() { _ = os.Remove(list) }, "no such file"},
	} {
		tt.change()
		if name, err := s.Name(good, noon()); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q, %v; want %s", name, err, tt.want)
		}
	}
	ca.revoke(list, noon().Add(time.Hour))
	if name, err := s.Name(good, noon()); name != "m" {
		t.Errorf("with a right list again: %q, %v", name, err)
	}
}

func TestAFileWithoutAuthoritiesIsRefused(t *testing.T) {
	ca := newAuthority(t, "maker")
	file := filepath.Join(t.TempDir(), "ca.pem")
	for _, content := range [][]byte{nil, []byte("x"), pemOf(ca.meter("m"))} {
		write(t, file, content)
		if _, err := pki.OpenSenders(file, ""); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "certificate of an authority") {
			t.Errorf("%.20q: %v", content, err)
		}
	}
}
