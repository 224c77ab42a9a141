// Package amqpclient says how a node reaches brokers of AMQP 1.0 (OASIS, ISO/IEC 19464), to write to them and to read from them.
package amqpclient

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	amqp "github.com/Azure/go-amqp"

	"voltbus/fault"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Dialer connects to one broker. It is safe for concurrent use.
type Dialer struct {
	access  setting.Access
	address string
	host    string
	name    string
}

const idleTime = 30 * time.Second // without a frame the connection is lost

// New returns a dialer for an address: amqp://host:port, or amqps:// for TLS. A path is a virtual host of RabbitMQ. node is the name of
// this node.
func New(a setting.Access, node string) (*Dialer, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, fault.E("amqp1.Open", fault.Invalid, a.URL, err)
	}
	d := &Dialer{access: a, address: (&url.URL{Scheme: u.Scheme, Host: u.Host}).String(), host: u.Hostname(), name: "voltbus-" + node}
	if path := strings.TrimPrefix(u.Path, "/"); path != "" {
		d.host = "vhost:" + path
	}
	_, err = endpoint.Secure(&a)
	return d, err
}

// Dial connects. The password is read for each connection.
func (d *Dialer) Dial(ctx context.Context) (*amqp.Conn, error) {
	password, err := endpoint.Secret(&d.access)
	if err != nil {
		return nil, err
	}
	options := &amqp.ConnOptions{ContainerID: d.name, HostName: d.host, IdleTimeout: idleTime, SASLType: amqp.SASLTypeAnonymous()}
	if d.access.User != "" {
		options.SASLType = amqp.SASLTypePlain(d.access.User, password)
	}
	if strings.HasPrefix(d.address, "amqps:") {
		if options.TLSConfig, err = endpoint.Secure(&d.access); err != nil {
			return nil, err
		}
		u, err := url.Parse(d.address)
		if err != nil {
			return nil, err
		}
		options.TLSConfig.ServerName = u.Hostname()
	}
	return amqp.Dial(ctx, d.address, options)
}

// Plain says in plain words what is wrong. key is the key of the configuration that names the address.
func (d *Dialer) Plain(key, address string, err error) error {
	var e *amqp.Error
	var link *amqp.LinkError
	var session *amqp.SessionError
	switch {
	case errors.As(err, &link) && link.RemoteErr != nil:
		e = link.RemoteErr
	case errors.As(err, &session) && session.RemoteErr != nil:
		e = session.RemoteErr
	default:
		_ = errors.As(err, &e)
	}
	switch {
	case e == nil && strings.Contains(err.Error(), "SASL"): // which the library tells by its text alone
		return fmt.Errorf("it does not accept the user %q or the password; look at user and password_file", d.access.User)
	case e == nil:
		return endpoint.Plain(err)
	case e.Condition == amqp.ErrCondNotFound:
		return fmt.Errorf("there is no address %q (%s); make it, or write another one as %s", address, e.Description, key)
	case e.Condition == amqp.ErrCondUnauthorizedAccess:
		return fmt.Errorf("the user %q may not use %q: %s; give it the right", d.access.User, address, e.Description)
	}
	return fmt.Errorf("%s: %s", e.Condition, e.Description)
}

// Verdict says what became of a message that was sent.
type Verdict uint8

// The verdicts: the outcomes of AMQP 1.0, part 3, section 3.4.
const (
	Accepted Verdict = iota
	Refused          // it will never be taken there
	Again            // it was not taken now
)

// Judge turns an outcome into a verdict, with the reason.
func Judge(outcome amqp.DeliveryState) (Verdict, string) {
	switch o := outcome.(type) {
	case *amqp.StateAccepted:
		return Accepted, ""
	case *amqp.StateRejected:
		if o.Error != nil {
			return Refused, fmt.Sprintf("it was rejected: %s: %s", o.Error.Condition, o.Error.Description)
		}
		return Refused, "it was rejected without a reason"
	case *amqp.StateModified:
		if o.UndeliverableHere {
			return Refused, "it cannot be delivered at this address"
		}
		return Again, "it was given back, to be sent again"
	case *amqp.StateReleased:
		return Again, "it was given back: no queue takes it at present"
	}
	return Again, fmt.Sprintf("it was answered by %T", outcome)
}

// Close ends a connection, which may be nil.
func Close(conn *amqp.Conn) {
	if conn == nil {
		return
	}
	_ = conn.Close() // its error tells why it ended before
}
