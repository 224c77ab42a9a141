package dnp3

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"voltbus/fault"
)

// Open opens the listener of the mapping, secured if it names certificates, whose files are relative to dir.
func (m *Mapping) Open(ctx context.Context, dir string) (net.Listener, error) {
	if m.TLS == (Secure{}) {
		return m.listener(ctx, nil)
	}
	at := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	own, err := tls.LoadX509KeyPair(at(m.TLS.Certificate), at(m.TLS.Key))
	if err != nil {
		return nil, fault.E("gateway.Open", fault.Invalid, "tls", fmt.Errorf("use the certificate: %w", err))
	}
	pem, err := os.ReadFile(at(m.TLS.CA))
	if err != nil {
		return nil, fault.E("gateway.Open", fault.Invalid, "tls.ca", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fault.E("gateway.Open", fault.Invalid, "tls.ca", errors.New("holds no certificate; write a PEM file"))
	}
	return m.listener(ctx, &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	})
}
