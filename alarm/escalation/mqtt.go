package escalation

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"voltbus/protocol/mqtt/client"
)

// secureScheme stands before the address of a broker with TLS.
const secureScheme = "mqtts://"

var (
	errNoBroker = errors.New("this node has no MQTT broker of its own; write the broker as server")
	errPassword = errors.New("a password is sent to a broker on another machine only encrypted; write mqtts:// before its address")
)

// publish publishes a message with QoS 1, by the node's own broker if the contact names none.
func (e *Escalation) publish(ctx context.Context, c *Contact, password string, payload []byte) error {
	if c.Server == "" {
		return e.publishHere(c.To, payload)
	}
	conn, err := e.dial(ctx, c, password)
	if err != nil {
		return err
	}
	b, err := client.New(ctx, conn, client.Config{ClientID: "voltbus-" + rand.Text()[:12], User: c.User, Password: password})
	if err != nil {
		return fmt.Errorf("the broker %s: %w", c.Server, err)
	}
	return errors.Join(b.Publish(ctx, &client.Message{Topic: c.To, Payload: payload, QoS: 1}), b.Close())
}

func (e *Escalation) publishHere(topic string, payload []byte) error {
	if e.o.Publish == nil {
		return errNoBroker
	}
	n, there := e.o.Publish(topic, payload)
	if !there {
		return errNoBroker
	}
	if n == 0 {
		return fmt.Errorf("no client of the node's MQTT broker subscribes to %.80q, so that nobody was told", topic)
	}
	return nil
}

// dial connects to the broker of a contact.
func (e *Escalation) dial(ctx context.Context, c *Contact, password string) (net.Conn, error) {
	address, secure := strings.CutPrefix(c.Server, secureScheme)
	host, _, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); !secure && password != "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errPassword
	}
	if !secure {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	pool, err := e.authorities(c)
	if err != nil {
		return nil, err
	}
	d := tls.Dialer{Config: &tls.Config{ServerName: host, RootCAs: pool, MinVersion: tls.VersionTLS12}}
	conn, err := d.DialContext(ctx, "tcp", address)
	return conn, untrusted(c, host, err)
}

// untrusted says what to do about a broker whose certificate is not accepted; other errors stay as they are.
func untrusted(c *Contact, host string, err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown) && c.CA == "":
		return fmt.Errorf("the certificate of the broker %s is signed by an authority that this machine does not trust; put the certificate of that authority into alarm-secrets and write its file as ca: %w", c.Server, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of the broker %s is not signed by the authority in the file %s in alarm-secrets; put the certificate of its authority there: %w", c.Server, c.CA, err)
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of the broker %s is not for %s; write as server a name that is in the certificate: %w", c.Server, host, err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("the certificate of the broker %s is not valid at this time; renew it, or correct the clock of this machine: %w", c.Server, err)
	}
	return err
}
