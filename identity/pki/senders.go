package pki

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"sync"
	"time"
	"unicode"

	"voltbus/fault"
)

// Senders authenticates programs by client certificates of external authorities, such as a meter manufacturer's. It is safe for
// concurrent use.
type Senders struct {
	pool        *x509.CertPool
	authorities []*x509.Certificate
	list        string // file of the list of revoked certificates; "" for none

	mu      sync.Mutex
	read    stamp
	wrong   error // why the list cannot be used
	next    time.Time
	revoked map[string]bool
	checked map[[sha256.Size]byte]time.Time // verified certificates, and until when their chain is valid
}

// stamp detects changes of a file.
type stamp struct {
	size int64
	at   time.Time
}

// maxChecked is how many verified certificates are cached.
const maxChecked = 1 << 16

var errNoAuthority = errors.New("there is no certificate of an authority in it: write one or more, in PEM")

// OpenSenders reads a file of authorities, in PEM. list is a list of revoked certificates of one of them (RFC 5280, section 5), in PEM or
// DER, which is read again when it changes; "" for none.
func OpenSenders(file, list string) (*Senders, error) {
	const op = "pki.OpenSenders"
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, file, err)
	}
	s := &Senders{pool: x509.NewCertPool(), list: list, checked: map[[sha256.Size]byte]time.Time{}}
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !c.IsCA {
			return nil, fault.E(op, fault.Invalid, file, errors.Join(errNoAuthority, err))
		}
		s.pool.AddCert(c)
		s.authorities = append(s.authorities, c)
	}
	if len(s.authorities) == 0 {
		return nil, fault.E(op, fault.Invalid, file, errNoAuthority)
	}
	s.refresh()
	return s, s.wrong
}

// Authorities returns the accepted authorities, as a hint to clients.
func (s *Senders) Authorities() *x509.CertPool { return s.pool }

var (
	errListSigner = errors.New("the list of revoked certificates is signed by none of the authorities: fetch it from one of them")
	errListForm   = errors.New("no list of revoked certificates: write one as RFC 5280 has it, in PEM or DER")
)

// refresh reads the list of revoked certificates if it changed. The caller holds mu, or is the only one.
func (s *Senders) refresh() {
	const op = "pki.Senders"
	if s.list == "" {
		return
	}
	info, err := os.Stat(s.list)
	if err != nil {
		s.wrong, s.read = fault.E(op, fault.Unavailable, s.list, err), stamp{}
		return
	}
	is := stamp{info.Size(), info.ModTime()}
	if is == s.read {
		return
	}
	s.read = is
	clear(s.checked)
	list, err := s.readList()
	if err != nil {
		s.wrong = fault.E(op, fault.Unavailable, s.list, err)
		return
	}
	s.wrong, s.next, s.revoked = nil, list.NextUpdate, make(map[string]bool, len(list.RevokedCertificateEntries))
	for _, e := range list.RevokedCertificateEntries {
		s.revoked[serial(list.RawIssuer, e.SerialNumber)] = true
	}
}

func serial(issuer []byte, number *big.Int) string { return string(issuer) + "/" + number.String() }

func (s *Senders) readList() (*x509.RevocationList, error) {
	content, err := os.ReadFile(s.list)
	if err != nil {
		return nil, err
	}
	if block, _ := pem.Decode(content); block != nil {
		content = block.Bytes
	}
	list, err := x509.ParseRevocationList(content)
	if err != nil {
		return nil, errListForm
	}
	for _, a := range s.authorities {
		if list.CheckSignatureFrom(a) == nil {
			return list, nil
		}
	}
	return nil, errListSigner
}

// Name authenticates a chain of certificates: it returns the common name of the first one. It fails with fault.Refused for a certificate
// that is not currently valid, was revoked, is from another authority or has no name, and with fault.Unavailable if the list of revoked
// certificates cannot be read or is out of date.
func (s *Senders) Name(chain []*x509.Certificate, now time.Time) (string, error) {
	const op = "pki.Senders"
	leaf := chain[0]
	name := leaf.Subject.CommonName
	if err := checkName(name); err != nil {
		return "", fault.E(op, fault.Refused, "", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	switch {
	case s.wrong != nil:
		return "", s.wrong
	case s.list != "" && !s.next.IsZero() && now.After(s.next):
		return "", fault.E(op, fault.Unavailable, s.list, fmt.Errorf("the list of revoked certificates is out of date since %s: fetch it anew", day(s.next)))
	}
	key := sha256.Sum256(leaf.Raw)
	if until, ok := s.checked[key]; ok && !now.After(until) && !now.Before(leaf.NotBefore) {
		return name, nil
	}
	until, err := s.verify(chain, now)
	if err != nil {
		return "", fault.E(op, fault.Refused, name, err)
	}
	if len(s.checked) >= maxChecked {
		clear(s.checked)
	}
	s.checked[key] = until
	return name, nil
}

var (
	errNobody   = errors.New("the client certificate has no common name: it must be the id of the meter")
	errBadName  = errors.New("the common name of the client certificate is no id of a meter: write at most 64 characters, without a slash or control characters")
	errRevoked  = errors.New("the client certificate was revoked: issue another one")
	errStranger = errors.New("the client certificate is signed by none of the authorities in listen.client_ca")
	errUse      = errors.New("the client certificate is not for clients: issue one with the extended key usage clientAuth")
)

func checkName(name string) error {
	if name == "" {
		return errNobody
	}
	if len(name) > 64 || name == "." || name == ".." {
		return errBadName
	}
	for _, r := range name {
		if r == '/' || !unicode.IsPrint(r) {
			return errBadName
		}
	}
	return nil
}

// verify returns until when a chain is valid. The caller holds mu.
func (s *Senders) verify(chain []*x509.Certificate, now time.Time) (time.Time, error) {
	leaf := chain[0]
	switch {
	case now.After(leaf.NotAfter):
		return time.Time{}, fmt.Errorf("the client certificate expired on %s: issue another one", day(leaf.NotAfter))
	case now.Before(leaf.NotBefore):
		return time.Time{}, fmt.Errorf("the client certificate is valid from %s on: check the clocks", day(leaf.NotBefore))
	}
	others := x509.NewCertPool()
	for _, c := range chain[1:] {
		others.AddCert(c)
	}
	found, err := leaf.Verify(x509.VerifyOptions{Roots: s.pool, Intermediates: others, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		if invalid, is := errors.AsType[x509.CertificateInvalidError](err); is && invalid.Reason == x509.IncompatibleUsage {
			return time.Time{}, errUse
		}
		return time.Time{}, errStranger
	}
	until := leaf.NotAfter
	for _, c := range found[0] {
		if s.revoked[serial(c.RawIssuer, c.SerialNumber)] {
			return time.Time{}, errRevoked
		}
		if c.NotAfter.Before(until) {
			until = c.NotAfter
		}
	}
	return until, nil
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
