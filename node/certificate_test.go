package node_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/meter/message"
	"voltbus/operation/metering"
)

// signed makes a certificate, of itself without an authority.
func signed(t *testing.T, c *x509.Certificate, by *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.NotBefore = time.Now().Add(-48 * time.Hour)
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	parent, with := c, any(key)
	if by != nil {
		parent, with = by.Leaf, by.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, with)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func maker(t *testing.T) *tls.Certificate {
	t.Helper()
	c := signed(t, &x509.Certificate{Subject: pkix.Name{CommonName: "maker"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}, nil)
	return &c
}

func forClient(name string, until time.Time) *x509.Certificate {
	return &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
}

func revocations(t *testing.T, file string, by *tls.Certificate, list ...tls.Certificate) {
	t.Helper()
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(time.Hour)}
	for _, c := range list {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: c.Leaf.SerialNumber, RevocationTime: time.Now()})
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, by.Leaf, by.PrivateKey.(*ecdsa.PrivateKey)) //nolint:forcetypeassert // signed made it
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, der, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAttackACertificateRecordsReadingsOfItsMeterAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	ca := maker(t)
	caFile, list := filepath.Join(dir, "maker.pem"), filepath.Join(dir, "revoked.crl")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := signed(t, forClient("m1", time.Time{}), ca)
	revocations(t, list, ca, gone)
	own := "listen: {http: '127.0.0.1:0', bus: '127.0.0.1:0', client_ca: maker.pem, client_revoked: revoked.crl, client_concentrators: [c1]}\n"
	r := run(t, load(t, dir, own+meteringConfig))
	roots := x509.NewCertPool()
	authority, err := os.ReadFile(filepath.Join(r.Config().Node.Data, "tls", "ca.pem"))
	if err != nil || !roots.AppendCertsFromPEM(authority) || !strings.HasPrefix(r.HTTPAddr(), "https://") {
		t.Fatal(r.HTTPAddr(), err)
	}
	over := func(c ...tls.Certificate) *http.Client {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: c, MinVersion: tls.VersionTLS13}}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	token, err := identity.ReadToken(filepath.Join(r.Config().Node.Data, identity.AdminTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(r.HTTPAddr(), token, over().Transport)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), admin, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1"), smartMeter("m2")}}); err != nil {
		t.Fatal(err)
	}
	send := func(c *http.Client, path string) (int, string) {
		t.Helper()
		end := message.FormatTime(someDay(t).Add(15 * time.Minute))
		body := fmt.Sprintf(`{"readings":[{"meter":"m1","channel":1,"end":%q,"value":1},{"meter":"m2","channel":1,"end":%q,"value":1}]}`, end, end)
		got, err := c.Post(r.HTTPAddr()+"/api/v1/metering/"+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		var text bytes.Buffer
		if _, err := io.Copy(&text, got.Body); err != nil {
			t.Fatal(err)
		}
		return got.StatusCode, text.String()
	}
	m1 := signed(t, forClient("m1", time.Time{}), ca)
	for _, tt := range []struct {
		name   string
		with   []tls.Certificate
		path   string
		status int
		want   string
	}{
		{"a meter", []tls.Certificate{m1}, "readings", 200, `{"accepted":1,"refused":[{"index":1,"reason":"this token may not record readings of this meter"}]}`},
		{"a concentrator", []tls.Certificate{signed(t, forClient("c1", time.Time{}), ca)}, "readings", 200, `{"accepted":2,"refused":[]}`},
		{"a meter that registers meters", []tls.Certificate{m1}, "meters", 401, "log in first"},
		{"without a certificate", nil, "readings", 401, "log in first"},
		{"of another authority", []tls.Certificate{signed(t, forClient("m1", time.Time{}), maker(t))}, "readings", 401, "signed by none of the authorities in listen.client_ca"},
		{"expired", []tls.Certificate{signed(t, forClient("m1", time.Now().Add(-24*time.Hour)), ca)}, "readings", 401, "the client certificate expired on "},
		{"revoked", []tls.Certificate{gone}, "readings", 401, "the client certificate was revoked"},
		{"without a name", []tls.Certificate{signed(t, forClient("", time.Time{}), ca)}, "readings", 401, "the client certificate has no common name"},
	} {
		if status, got := send(over(tt.with...), tt.path); status != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %d %s; want %d %s", tt.name, status, got, tt.status, tt.want)
		}
	}
	kept := over(m1)
	send(kept, "readings")
	revocations(t, list, ca, gone, m1)
	if status, got := send(kept, "readings"); status != 401 || !strings.Contains(got, "was revoked") {
		t.Errorf("revoked on a connection that is kept: %d %s", status, got)
	}
}
