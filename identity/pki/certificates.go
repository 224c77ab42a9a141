package pki

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity/keyfile"
)

// Certificates are the node's own authority and the server certificate that it signed, in a folder: ca.pem,
// ca.key, copies of both, server.pem, server.key, and, after a renewal of the authority, ca-endorsed.pem: the
// new authority's key signed by the old one. Clients trust ca.pem. Both certificates are renewed when a third
// of their lifetime is left, at start or at the first handshake after that. It is safe for concurrent use.
type Certificates struct {
	dir   string
	node  string
	names []string
	now   func() time.Time

	mu        sync.Mutex
	authority *issued
	server    *issued
	endorsed  *x509.Certificate // the authority's key, signed by the previous one; nil if there is none
	pair      *tls.Certificate
	made      bool // the authority is a new one that continues no other
}

// Open reads the certificates in dir, which is created if absent, and creates or renews those that are missing, damaged,
// about to expire or for other names. If an authority that was in use and its copy cannot be read, it returns
// fault.Corrupt: those who trust it would not trust another one. The server answers to localhost, the loopback addresses,
// the machine's host name, the node's name, and the further names (host names or addresses). now is the clock.
func Open(dir, node string, names []string, now func() time.Time) (*Certificates, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, keyfile.Fault("pki.Open", dir, err)
	}
	c := &Certificates{dir: dir, node: node, names: serverNames(node, names), now: now}
	if _, err := c.current(); err != nil {
		return nil, err
	}
	return c, nil
}

// CAFile returns the name of the file with the authority's certificate, which clients trust.
func (c *Certificates) CAFile() string { return filepath.Join(c.dir, "ca.pem") }

// Fingerprint returns the SHA-256 of the authority's certificate in hexadecimal, for people who
// compare.
func (c *Certificates) Fingerprint() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := sha256.Sum256(c.authority.cert.Raw)
	return hex.EncodeToString(sum[:])
}

// Authority returns the authority's certificate in PEM.
func (c *Certificates) Authority() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return encodeCert(c.authority.cert)
}

// ServerConfig returns the configuration of a TLS 1.3 server.
func (c *Certificates) ServerConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current() },
	}
}

// ClientConfig returns the configuration of a TLS 1.3 client that trusts this node only.
func (c *Certificates) ClientConfig() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	pool := x509.NewCertPool()
	pool.AddCert(c.authority.cert)
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool}
}

// current returns the server's certificate, after any necessary renewal.
func (c *Certificates) current() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.pair != nil && c.authority.fresh(now) && c.server.fresh(now) {
		return c.pair, nil
	}
	if err := c.renewAuthority(now); err != nil {
		return nil, err
	}
	if err := c.renewServer(now); err != nil {
		return nil, err
	}
	c.pair = &tls.Certificate{
		Certificate: [][]byte{c.server.cert.Raw, c.authority.cert.Raw},
		PrivateKey:  c.server.key, Leaf: c.server.cert,
	}
	if c.endorsed != nil {
		c.pair.Certificate = append(c.pair.Certificate, c.endorsed.Raw)
	}
	return c.pair, nil
}

// endorse makes the previous authority sign the key of the new one, so that clients that know only the
// previous one can trust the new one. It is written before the new one: after a crash between the two, the
// next start creates another new one.
func (c *Certificates) endorse(a, before *issued, now time.Time) error {
	if now.After(before.cert.NotAfter) {
		return nil // nobody would trust it
	}
	e, err := endorsement(a, before)
	if err != nil {
		return err
	}
	return keyfile.Write(c.endorsementFile(), []byte(encodeCert(e)), keyfile.Public)
}

// endorsement reads the previous authority's endorsement of this one; nil if there is none.
func (c *Certificates) endorsement(a *issued) *x509.Certificate {
	b, err := os.ReadFile(c.endorsementFile())
	if err != nil {
		return nil // there is none, or a person has to tell clients that know only the old one
	}
	e, err := parseCert(b)
	if err != nil || !bytes.Equal(e.RawSubjectPublicKeyInfo, a.cert.RawSubjectPublicKeyInfo) {
		return nil
	}
	return e
}

func (c *Certificates) endorsementFile() string { return filepath.Join(c.dir, "ca-endorsed.pem") }

func (c *Certificates) renewServer(now time.Time) error {
	certFile, keyFile := filepath.Join(c.dir, "server.pem"), filepath.Join(c.dir, "server.key")
	s, err := load(certFile, keyFile)
	if renewable(err) || (err == nil && !c.serves(s, now)) {
		s, err = newServer(c.node, c.names, c.authority, now)
		if err == nil {
			err = s.save(certFile, keyFile)
		}
	}
	if err != nil {
		return fmt.Errorf("prepare the server certificate: %w", err)
	}
	c.server = s
	return nil
}

// serves reports whether s is fresh, signed by our authority and valid for exactly our names.
func (c *Certificates) serves(s *issued, now time.Time) bool {
	return s.fresh(now) && s.cert.CheckSignatureFrom(c.authority.cert) == nil &&
		slices.Equal(namesOf(s.cert), c.names)
}

// renewable reports whether a new certificate answers the error. Wrong permissions are not such an error: the
// old key may be known to others, which a person must decide about.
func renewable(err error) bool {
	return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt)
}
