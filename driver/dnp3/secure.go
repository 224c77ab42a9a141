package dnp3

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"voltbus/driver"
)

// TLS names the certificates of a secured line. Both sides show one.
type TLS struct {
	// Certificate is the PEM file with this node's certificate; left out, the line is plain.
	Certificate string `yaml:"certificate"`
	// Key is the PEM file with its private key.
	Key string `yaml:"key"`
	// CA is the PEM file with the authorities, or the self-signed certificates, that the
	// device's certificate is checked against.
	CA string `yaml:"ca"`
	// Name is what the device's certificate must be made out to; the host of the address if
	// left out, - for any name.
	Name string `yaml:"name"`

	made *tls.Config // by load
}

// anyName accepts a certificate of the right authority, whatever its name.
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

// load reads the files.
func (t *TLS) load(dir string) []error {
	if t.Certificate == "" || t.Key == "" || t.CA == "" {
		return nil // check says so
	}
	own, err := tls.LoadX509KeyPair(resolve(dir, t.Certificate), resolve(dir, t.Key))
	if err != nil {
		return []error{&driver.Problem{Key: "tls.certificate", Text: fmt.Sprintf("cannot be used with its key: %v; write two PEM files that belong together", err)}}
	}
	pem, err := os.ReadFile(resolve(dir, t.CA))
	if err != nil {
		return []error{&driver.Problem{Key: "tls.ca", Text: fmt.Sprintf("cannot be read: %v", err)}}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return []error{&driver.Problem{Key: "tls.ca", Text: "holds no certificate; write a PEM file"}}
	}
	t.made = &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own},
		RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
	return nil
}

// client returns the configuration to dial an address, nil for a plain line.
func (t *TLS) client(address string) *tls.Config {
	if t.made == nil {
		return nil
	}
	c := t.made.Clone()
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
	if t.made == nil {
		return nil
	}
	c := t.made.Clone()
	if t.Name != "" && t.Name != anyName {
		c.VerifyConnection = func(s tls.ConnectionState) error { return s.PeerCertificates[0].VerifyHostname(t.Name) }
	}
	return c
}
