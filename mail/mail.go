// Package mail sends e-mail by an SMTP server (RFC 5321), encrypted if the server offers that (STARTTLS, RFC 3207).
package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/mail"
	"net/smtp"
	"strings"
	"time"
)

// Server is an SMTP server, and who sends by it.
type Server struct {
	Address  string // host:port
	From     string
	User     string // From if left out
	Password string // without one nobody logs in
	// Authorities are those that certificates of the server may be of; nil for those of the system.
	Authorities *x509.CertPool
}

// Letter is an e-mail of plain text, perhaps with files.
type Letter struct {
	To, Subject, Text string
	Files             []File
}

// File is attached to a letter.
type File struct {
	Name, Media string
	Data        []byte
}

// Validate returns what is wrong with an address of a person.
func Validate(address string) error {
	if _, err := mail.ParseAddress(address); err != nil || strings.ContainsAny(address, "\r\n") {
		return fmt.Errorf("%.80q is not an address; write one such as shift@example.org", address)
	}
	return nil
}

// Send sends a letter, until ctx ends. A password is sent only encrypted or to this machine. The addresses are valid.
func (s *Server) Send(ctx context.Context, l *Letter) error {
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := s.secure(c); err != nil {
		return err
	}
	from, bad := mail.ParseAddress(s.From)
	to, err := mail.ParseAddress(l.To)
	if err := errors.Join(bad, err); err != nil {
		return err
	}
	if err := errors.Join(c.Mail(from.Address), c.Rcpt(to.Address)); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\nMIME-Version: 1.0\r\n",
		from, to, mime.QEncoding.Encode("utf-8", l.Subject), time.Now().Format(time.RFC1123Z))
	if err == nil {
		err = l.write(w)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	return c.Quit()
}

func (s *Server) dial(ctx context.Context) (*smtp.Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.Address)
	if err != nil {
		return nil, err
	}
	if deadline, is := ctx.Deadline(); is {
		_ = conn.SetDeadline(deadline) // a connection that was just made takes it
	}
	c, err := smtp.NewClient(conn, s.host())
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

func (s *Server) host() string {
	host, _, _ := net.SplitHostPort(s.Address)
	return host
}

// secure encrypts the connection if the server offers that, and logs in.
func (s *Server) secure(c *smtp.Client) error {
	host := s.host()
	if is, _ := c.Extension("STARTTLS"); is {
		if err := c.StartTLS(&tls.Config{ServerName: host, RootCAs: s.Authorities, MinVersion: tls.VersionTLS12}); err != nil {
			if bad, is := errors.AsType[*tls.CertificateVerificationError](err); is {
				return fmt.Errorf("the certificate of the mail server %s is not valid, so nothing was sent: %w; put the certificate of its authority into a file, and name that as ca", host, bad.Err)
			}
			return err
		}
	}
	if s.Password == "" {
		return nil
	}
	if err := c.Auth(smtp.PlainAuth("", cmp.Or(s.User, s.From), s.Password, host)); err != nil {
		return fmt.Errorf("the mail server %s does not let %.80q log in: %w", host, cmp.Or(s.User, s.From), err)
	}
	return nil
}
