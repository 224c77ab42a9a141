// Package rabbitclient says how a node reaches RabbitMQ and other brokers of AMQP 0-9-1, to write to them and to read from them.
package rabbitclient

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"voltbus/fault"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Dialer connects to one broker. It is safe for concurrent use.
type Dialer struct {
	// Query are the parameters of the address.
	Query url.Values

	access  setting.Access
	address string
	config  amqp.Config
}

const (
	dialTime  = 10 * time.Second
	heartbeat = 10 * time.Second
)

// New returns a dialer for an address: amqp://host:port/virtual-host, or amqps:// for TLS. node is the name of this node.
func New(a setting.Access, node string) (*Dialer, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, fault.E("rabbitmq.Open", fault.Invalid, a.URL, err)
	}
	secure, err := endpoint.Secure(&a)
	if err != nil {
		return nil, err
	}
	secure.ServerName = u.Hostname()
	d := &Dialer{Query: u.Query(), access: a, address: (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()}
	d.config = amqp.Config{
		Vhost: "/", Heartbeat: heartbeat, Properties: amqp.Table{"connection_name": "voltbus " + node},
		Dial: func(network, address string) (net.Conn, error) {
			return (&net.Dialer{Timeout: dialTime}).Dial(network, address)
		},
	}
	if path := strings.TrimPrefix(u.Path, "/"); path != "" {
		d.config.Vhost = path
	}
	if u.Scheme == "amqps" {
		d.config.TLSClientConfig = secure
	}
	return d, nil
}

// Dial connects. The password is read for each connection.
func (d *Dialer) Dial() (*amqp.Connection, error) {
	password, err := endpoint.Secret(&d.access)
	if err != nil {
		return nil, err
	}
	config := d.config
	if d.access.User != "" {
		config.SASL = []amqp.Authentication{&amqp.PlainAuth{Username: d.access.User, Password: password}}
	}
	return amqp.DialConfig(d.address, config)
}

// Plain says in plain words what is wrong.
func (d *Dialer) Plain(err error) error {
	var e *amqp.Error
	switch {
	case errors.Is(err, amqp.ErrCredentials), errors.Is(err, amqp.ErrSASL):
		return fmt.Errorf("it does not accept the user %q or the password; look at user and password_file", d.access.User)
	case errors.Is(err, amqp.ErrVhost):
		return fmt.Errorf("the virtual host %q is not there, or the user %q may not use it", d.config.Vhost, d.access.User)
	case errors.As(err, &e) && e.Code == amqp.AccessRefused:
		return fmt.Errorf("the user %q may not do this: %s", d.access.User, e.Reason)
	case errors.As(err, &e) && e.Code == amqp.NotFound:
		return fmt.Errorf("%s; make it, or write another one", e.Reason)
	}
	return endpoint.Plain(err)
}

// Close ends a connection, which may be nil.
func Close(conn *amqp.Connection) {
	if conn != nil {
		_ = conn.CloseDeadline(time.Now().Add(time.Second))
	}
}
