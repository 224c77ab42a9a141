package sc

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// ErrCertificate says that one end shows no certificate that the other accepts.
var ErrCertificate = errors.New("the certificate is not accepted")

// refusal is ErrCertificate in a sentence that says why, and what to do.
type refusal struct {
	text  string
	cause error
}

func (r *refusal) Error() string   { return r.text }
func (r *refusal) Unwrap() []error { return []error{ErrCertificate, r.cause} }

func refuse(cause error, text string, args ...any) error {
	return &refusal{text: fmt.Sprintf(text, args...), cause: cause}
}

// day writes a time of a certificate.
func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// outOfTime says that a certificate is not valid now; nil if it is.
func outOfTime(whose string, c *x509.Certificate, now time.Time) error {
	switch {
	case now.After(c.NotAfter):
		return refuse(nil, "%s expired on %s; have the authority issue a new one", whose, day(c.NotAfter))
	case now.Before(c.NotBefore):
		return refuse(nil, "%s is valid only from %s on; check the clock of this machine, which says %s, or wait", whose, day(c.NotBefore), day(now))
	}
	return nil
}

// explainVerify says why the certificate of a hub is not accepted.
func explainVerify(leaf *x509.Certificate, err error, now time.Time) error {
	if err == nil {
		return nil
	}
	const whose = "the certificate of the hub"
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if invalid.Cert == nil || invalid.Cert.Equal(leaf) {
			return outOfTime(whose, leaf, now)
		}
		return outOfTime("the certificate of the authority "+invalid.Cert.Subject.String(), invalid.Cert, now)
	case errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage:
		return refuse(err, "%s is not made for servers; have the authority issue one with the extended key usage serverAuth", whose)
	case errors.As(err, &unknown):
		return refuse(err, "%s was issued by %q, which is none of the authorities of this node; add the certificate of that authority, or give the hub a certificate of this site", whose, leaf.Issuer.String())
	}
	return refuse(err, "%s is not accepted: %v", whose, err)
}

// alerts are what a hub says of the node's certificate (RFC 8446 §6.2), and what to do.
func alerts(text string) string {
	switch text {
	case "expired certificate":
		return "it has expired, or is not valid yet; have the authority issue a new one, and check the clocks of both machines"
	case "unknown certificate authority":
		return "the hub does not know the authority that issued it; use a certificate of the hub's site, or add the authority to the hub"
	case "revoked certificate":
		return "it was revoked; have the authority issue a new one"
	case "certificate required":
		return "the hub got none; write certificate and key"
	case "bad certificate", "unsupported certificate", "unknown certificate", "access denied":
		return "the hub calls it a " + text + "; have the authority issue one with the extended key usage clientAuth that is valid now"
	}
	return ""
}

// explainDial says why there is no connection to a hub.
func explainDial(err error) error {
	var remote *net.OpError
	if errors.As(err, &remote) && remote.Op == "remote error" && remote.Err != nil {
		text := strings.TrimPrefix(remote.Err.Error(), "tls: ")
		if why := alerts(text); why != "" {
			return refuse(err, "the hub refuses the certificate of this node: %s", why)
		}
		if text == "protocol version not supported" {
			return fmt.Errorf("the hub does not speak TLS 1.3, which BACnet/SC demands (%w)", err)
		}
	}
	if _, plain := errors.AsType[tls.RecordHeaderError](err); plain {
		return fmt.Errorf("what answers at this address is no BACnet/SC hub: it does not speak TLS (%w)", err)
	}
	return err
}
