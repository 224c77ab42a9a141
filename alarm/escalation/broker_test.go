package escalation_test

import (
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
	"strings"
	"testing"
	"time"

	"voltbus/alarm/escalation"
	"voltbus/testing/peers"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{certificate: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	a.key, a.pem = signed(t, a.certificate, nil)
	return a
}

// server returns a certificate for the loopback address that is valid until a time, and its key.
func (a *authority) server(t *testing.T, until time.Time) (certificate, key []byte) {
	t.Helper()
	private, certificate := signed(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "broker"}, NotBefore: until.Add(-2 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a)
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

// signed makes a key, and a certificate of it that an authority signs, or it itself if there is none.
func signed(t *testing.T, of *x509.Certificate, by *authority) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if by == nil {
		by = &authority{certificate: of, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, of, by.certificate, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestABrokerOverTLSIsToldOnlyIfItsAuthorityIsTheRightOne(t *testing.T) {
	plant, other := newAuthority(t, "plant"), newAuthority(t, "other")
	certificate, key := plant.server(t, time.Now().Add(time.Hour))
	broker := peers.StartMosquitto(t, certificate, key)
	heard := subscribed(t, broker.Addr, "plant/#")
	contact := func(name, server, ca string) escalation.Contact {
		return escalation.Contact{Name: name, By: escalation.ByMQTT, To: "plant/" + name, Server: server, User: "node", Secret: "token", CA: ca}
	}
	secure := "mqtts://" + broker.Secure
	_, port, _ := net.SplitHostPort(broker.Secure)
	s := newStand(t, escalation.Plan{Contacts: []escalation.Contact{
		contact("right", secure, "plant.pem"), contact("wrong", secure, "other.pem"), contact("none", secure, ""),
		contact("name", "mqtts://localhost:"+port, "plant.pem"), contact("plain", "mqtts://"+broker.Addr, "plant.pem"),
	}})
	for file, text := range map[string][]byte{"plant.pem": plant.pem, "other.pem": other.pem, "token": []byte("let-me-in\n")} {
		if err := os.WriteFile(filepath.Join(s.dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"wrong": "is not signed by the authority in the file other.pem in alarm-secrets; put the certificate of its authority there",
		"none":  "put the certificate of that authority into alarm-secrets and write its file as ca",
		"name":  "is not for localhost; write as server a name that is in the certificate",
		"plain": "",
	} {
		if err := s.Test(t.Context(), name, "ben"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Test(t.Context(), "right", "ben"); err != nil {
		t.Fatal(err)
	}
	if got := next(t, heard); !strings.HasPrefix(got, "plant/right {") {
		t.Errorf("the subscriber heard first %q, want only what was sent over the trusted connection", got)
	}
}

func TestABrokerWhoseCertificateHasExpiredIsNotTold(t *testing.T) {
	plant := newAuthority(t, "plant")
	certificate, key := plant.server(t, time.Now().Add(-time.Minute))
	broker := peers.StartMosquitto(t, certificate, key)
	s := newStand(t, escalation.Plan{Contacts: []escalation.Contact{
		{Name: "panel", By: escalation.ByMQTT, To: "plant", Server: "mqtts://" + broker.Secure, CA: "plant.pem"},
	}})
	if err := os.WriteFile(filepath.Join(s.dir, "plant.pem"), plant.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Test(t.Context(), "panel", "ben"); err == nil || !strings.Contains(err.Error(), "renew it, or correct the clock of this machine") {
		t.Errorf("an expired certificate gives %v", err)
	}
}
