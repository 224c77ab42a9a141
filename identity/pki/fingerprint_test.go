package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
)

// today is when the certificates of these tests are looked at.
var today = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// signer is a key with its certificate.
type signer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// signs returns a certificate of a key until a time, signed by itself if by is nil. It makes a key if it is given none.
func (by *signer) signs(t *testing.T, name string, key *ecdsa.PrivateKey, ca bool, until time.Time) *signer {
	t.Helper()
	if key == nil {
		var err error
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: ca, BasicConstraintsValid: true,
		NotBefore: today.AddDate(-1, 0, 0), NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if ca {
		template.KeyUsage |= x509.KeyUsageCertSign
	}
	parent, with := template, key
	if by != nil {
		parent, with = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, with)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{cert, key}
}

func TestOnlyTheNodeOfTheKnownAuthorityIsTrusted(t *testing.T) {
	var self *signer
	nextYear, yesterday := today.AddDate(1, 0, 0), today.AddDate(0, 0, -1)
	old := self.signs(t, "authority", nil, true, nextYear)
	server := old.signs(t, "node", nil, false, nextYear)
	late := old.signs(t, "node", nil, false, yesterday)
	impostor := self.signs(t, "authority", nil, true, nextYear)
	renewed := self.signs(t, "new authority", nil, true, nextYear)
	below := renewed.signs(t, "node", nil, false, nextYear)
	endorsement := old.signs(t, "new authority", renewed.key, true, nextYear)
	ended := old.signs(t, "new authority", renewed.key, true, yesterday)
	forged := impostor.signs(t, "new authority", renewed.key, true, nextYear)
	plain := old.signs(t, "new authority", renewed.key, false, nextYear)
	trust := Trust{Fingerprint: sha256.Sum256(old.cert.Raw), Authorities: []*x509.Certificate{old.cert}}
	for _, test := range []struct {
		name  string
		chain []*signer
		words string // of the refusal, "" for none
	}{
		{"the known authority", []*signer{server, old}, ""},
		{"a new authority that the known one endorsed", []*signer{below, renewed, endorsement}, ""},
		{"a certificate without its authority", []*signer{server}, "known fingerprint"},
		{"an impostor of the same name", []*signer{impostor.signs(t, "node", nil, false, nextYear), impostor}, "known fingerprint"},
		{"the known authority beside a certificate of another", []*signer{impostor.signs(t, "node", nil, false, nextYear), old}, "known fingerprint"},
		{"a server's certificate as authority", []*signer{server.signs(t, "node", nil, false, nextYear), server}, "known fingerprint"},
		{"a new authority that nobody endorsed", []*signer{below, renewed}, "known fingerprint"},
		{"an endorsement that has ended", []*signer{below, renewed, ended}, "known fingerprint"},
		{"an endorsement by an impostor", []*signer{below, renewed, forged}, "known fingerprint"},
		{"an endorsement of no authority", []*signer{below, renewed, plain}, "known fingerprint"},
		{"a certificate that has ended", []*signer{late, old}, "are both clocks right"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var chain []*x509.Certificate
			for _, s := range test.chain {
				chain = append(chain, s.cert)
			}
			ca, err := trust.verify(chain, today)
			switch {
			case test.words == "" && (err != nil || !ca.Equal(test.chain[1].cert)):
				t.Errorf("got %v", err)
			case test.words != "" && (!fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), test.words)):
				t.Errorf("got %v, want a refusal with the words %q", err, test.words)
			}
		})
	}
}

func TestAFingerprintIsReadAsItIsWritten(t *testing.T) {
	f := Fingerprint{1, 2, 254}
	if got, err := ParseFingerprint(" " + f.String() + "\n"); err != nil || got != f {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"", "01", f.String() + "00", strings.Replace(f.String(), "0", "g", 1)} {
		if _, err := ParseFingerprint(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q gave %v, want Invalid", text, err)
		}
	}
}
