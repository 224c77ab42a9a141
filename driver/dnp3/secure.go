package dnp3

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"voltbus/driver"
)

// TLS names the certificates of a secured line. Both sides present one.
type TLS struct {
	// Certificate is the PEM file with this node's certificate; left out, the line is plain.
	Certificate string `yaml:"certificate"`
	// Key is the PEM file with its private key.
	Key string `yaml:"key"`
	// CA is the PEM file with the authorities, or the self-signed certificates, that the
	// device's certificate is checked against.
	CA string `yaml:"ca"`
	// Name is the name that the device's certificate must contain; the host of the address if left out, - for any name.
	Name string `yaml:"name"`

	files secrets // by load
}

// secrets are the contents of the files when they were read: configurations with equal contents are equal.
type secrets struct{ certificate, key, ca string }

// anyName accepts a certificate of the right authority with any name.
const anyName = "-"

func (t *TLS) wanted() bool { return t.Certificate != "" || t.Key != "" || t.CA != "" }

func (t *TLS) check(k *checker, transport string) {
	if !t.wanted() {
		return
	}
	k.add(transport != transportTCP && transport != transportListen, "tls", "is not possible over %s; use tcp or listen", transport)
	k.add(t.Certificate == "", "tls.certificate", "is missing; write the PEM file with this node's certificate")
	k.add(t.Key == "", "tls.key", "is missing; write the PEM file with the private key")
	k.add(t.CA == "", "tls.ca", "is missing; write the PEM file with the authority of the device's certificate")
}

// maxPEM bounds the size of a certificate file, far above any real one.
const maxPEM = 1 << 20

// load reads the files.
func (t *TLS) load(files driver.Files) []error {
	if t.Certificate == "" || t.Key == "" || t.CA == "" {
		return nil // check reports it
	}
	var read secrets
	for _, f := range []struct {
		key, name string
		into      *string
	}{{"tls.certificate", t.Certificate, &read.certificate}, {"tls.key", t.Key, &read.key}, {"tls.ca", t.CA, &read.ca}} {
		pem, err := files.ReadFile(f.name, maxPEM)
		if err != nil {
			return []error{&driver.Problem{Key: f.key, Text: fmt.Sprintf("cannot be read: %v", err)}}
		}
		*f.into = string(pem)
	}
	if _, err := tls.X509KeyPair([]byte(read.certificate), []byte(read.key)); err != nil {
		return []error{&driver.Problem{Key: "tls.certificate", Text: "cannot be used with its key; write two PEM files that belong together"}}
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(read.ca)) {
		return []error{&driver.Problem{Key: "tls.ca", Text: "holds no certificate; write a PEM file"}}
	}
	t.files = read
	return nil
}

// make returns the TLS settings common to both sides; nil for a plain line.
func (t *TLS) make() *tls.Config {
	if t.files == (secrets{}) {
		return nil
	}
	own, err := tls.X509KeyPair([]byte(t.files.certificate), []byte(t.files.key))
	if err != nil { // load has checked that they match
		return &tls.Config{MinVersion: tls.VersionTLS12}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(t.files.ca))
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own},
		RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
}

// client returns the configuration to dial an address, nil for a plain line.
func (t *TLS) client(address string) *tls.Config {
	c := t.make()
	if c == nil {
		return nil
	}
	if c.ServerName = t.Name; t.Name == "" {
		c.ServerName, _, _ = net.SplitHostPort(address)
	}
	if t.Name == anyName {
		c.ServerName = ""
		c.InsecureSkipVerify = true // replaced by the next line
		c.VerifyConnection = func(s tls.ConnectionState) error { return checkChain(s, c.RootCAs) }
	}
	return c
}

var errNoCertificate = errors.New("the device shows no certificate")

// checkChain checks a certificate against authorities, without its name.
func checkChain(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errNoCertificate
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}

// server returns the configuration to listen with, nil for a plain line.
func (t *TLS) server() *tls.Config {
	c := t.make()
	if c == nil {
		return nil
	}
	if t.Name != "" && t.Name != anyName {
		c.VerifyConnection = func(s tls.ConnectionState) error { return s.PeerCertificates[0].VerifyHostname(t.Name) }
	}
	return c
}
