// Package endpoint sends requests to destinations that speak HTTP, and says in plain words what keeps them from being answered.
package endpoint

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"voltbus/fault"
	"voltbus/sink/setting"
)

// Endpoint is one destination. It is safe for concurrent use.
type Endpoint struct {
	entry  *setting.Sink
	scheme string                                   // of the authorization with a token
	sign   func(q *http.Request, body []byte) error // instead of the scheme; may be nil
	base   *url.URL
	client *http.Client
}

// Bounds of a request.
const (
	dialTime  = 10 * time.Second
	idleTime  = 90 * time.Second
	maxAnswer = 64 << 20
)

// New returns the endpoint of an entry. The scheme is that of the Authorization header for a token, such as Bearer.
func New(s *setting.Sink, scheme string) (*Endpoint, error) {
	base, err := url.Parse(s.URL)
	if err != nil {
		return nil, fault.E("sinks.Open", fault.Invalid, s.URL, err)
	}
	secure, err := TLS(s)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig: secure, TLSHandshakeTimeout: dialTime, IdleConnTimeout: idleTime, MaxIdleConnsPerHost: 16, ForceAttemptHTTP2: true,
		Proxy: http.ProxyFromEnvironment, DisableCompression: false,
	}
	return &Endpoint{entry: s, scheme: scheme, base: base, client: &http.Client{Transport: transport}}, nil
}

// Signed returns the endpoint of an entry whose requests a function signs when they are complete.
func Signed(s *setting.Sink, sign func(q *http.Request, body []byte) error) (*Endpoint, error) {
	e, err := New(s, "")
	if err == nil {
		e.sign = sign
		e.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the signature is for one address
	}
	return e, err
}

// TLS returns the TLS configuration of an entry.
func TLS(s *setting.Sink) (*tls.Config, error) {
	a := s.Access()
	return Secure(&a)
}

// Secure returns the TLS configuration for a server.
func Secure(s *setting.Access) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CA != "" {
		text, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, fault.E("sinks.Open", fault.Unavailable, s.CA, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fault.E("sinks.Open", fault.Invalid, s.CA, errors.New("the file holds no certificate; write a PEM file"))
		}
	}
	if s.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(s.Certificate, s.Key)
		if err != nil {
			return nil, fault.E("sinks.Open", fault.Invalid, s.Certificate, fmt.Errorf("certificate and key cannot be read: %w", err))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Password returns the password or token of an entry, "" if it has none.
func Password(s *setting.Sink) (string, error) {
	a := s.Access()
	return Secret(&a)
}

// Secret returns the password or token for a server, "" if there is none. It is read anew for each connection.
func Secret(s *setting.Access) (string, error) {
	if s.PasswordFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(s.PasswordFile)
	if err != nil {
		return "", fault.E("sinks.Append", fault.Unavailable, s.PasswordFile, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// Request is a request to a destination.
type Request struct {
	Method string // default: POST
	Path   string // below the path of the URL
	Query  url.Values
	Header map[string]string
	Body   []byte
}

// Answer is what a destination answered.
type Answer struct {
	Status int
	Body   []byte
}

// OK reports whether the request was carried out.
func (a *Answer) OK() bool { return a.Status/100 == 2 } //nolint:mnd // 2xx

// Misdirected reports whether the address does not take such requests at all, whatever is in them.
func (a *Answer) Misdirected() bool {
	return a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed || a.Status == http.StatusUnsupportedMediaType ||
		a.Status == http.StatusBadRequest && bytes.Contains(a.Body, []byte("unsupported path"))
}

// Text is a short form of the body.
func (a *Answer) Text() string {
	const most = 300
	text := strings.Join(strings.Fields(string(a.Body)), " ")
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}

// Do sends a request, and returns the answer. Answers that say that the destination cannot be used at present, or not with this
// password, are errors.
func (e *Endpoint) Do(ctx context.Context, r *Request) (a Answer, err error) {
	to := *e.base
	to.Path = strings.TrimSuffix(to.Path, "/") + r.Path
	query := to.Query()
	maps.Copy(query, r.Query)
	to.RawQuery = query.Encode()
	method := r.Method
	if method == "" {
		method = http.MethodPost
	}
	q, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(r.Body))
	if err != nil {
		return a, fault.E("sinks.Append", fault.Invalid, e.entry.URL, err)
	}
	for name, text := range r.Header {
		q.Header.Set(name, text)
	}
	if err := e.authorize(q, r.Body); err != nil {
		return a, err
	}
	answer, err := e.client.Do(q)
	if err != nil {
		return a, e.away(err)
	}
	defer answer.Body.Close()
	a.Status = answer.StatusCode
	if a.Body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer)); err != nil {
		return a, e.away(err)
	}
	return a, e.refused(&a)
}

// Reach sends a request without a reading, and returns why nothing can be sent there. What the destination answers about the content of
// the request does not matter.
func (e *Endpoint) Reach(ctx context.Context, r *Request) error {
	a, err := e.Do(ctx, r)
	if err == nil && a.Misdirected() {
		err = fault.E("sinks.Try", fault.Unavailable, e.entry.URL, fmt.Errorf(
			"it answers, but takes no such requests at this address: what is named as into must be there, and url must be right: %s", a.Text()))
	}
	return err
}

func (e *Endpoint) authorize(q *http.Request, body []byte) error {
	if e.sign != nil {
		return e.sign(q, body)
	}
	password, err := Password(e.entry)
	switch {
	case err != nil:
		return err
	case e.entry.User != "":
		q.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(e.entry.User+":"+password)))
	case password != "":
		q.Header.Set("Authorization", e.scheme+" "+password)
	}
	return nil
}

// refused returns why nothing can be sent at present; nil if the answer is about the content of the request.
func (e *Endpoint) refused(a *Answer) error {
	var err error
	switch {
	case a.Status == http.StatusUnauthorized:
		err = fmt.Errorf("it does not accept the user or the password; look at user and password_file: %s", a.Text())
	case a.Status == http.StatusForbidden:
		err = fmt.Errorf("the user may not write there; give it the right, or write another user: %s", a.Text())
	case a.Status == http.StatusTooManyRequests || a.Status >= http.StatusInternalServerError:
		err = fmt.Errorf("it answers %d %s: %s", a.Status, http.StatusText(a.Status), a.Text())
	}
	if err != nil {
		return fault.E("sinks.Append", fault.Unavailable, e.entry.URL, err)
	}
	return nil
}

// away returns an error for a request that was not answered.
func (e *Endpoint) away(err error) error {
	return fault.E("sinks.Append", fault.Unavailable, e.entry.URL, Plain(err))
}

// Close ends connections.
func (e *Endpoint) Close() error {
	e.client.CloseIdleConnections()
	return nil
}

// Plain says in plain words why a connection failed.
func Plain(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	if op, is := errors.AsType[*url.Error](err); is {
		err = op.Err
	}
	switch {
	case errors.As(err, &unknown):
		return errors.New("its certificate is from an authority that is not known here; write the authority's certificate as ca")
	case errors.As(err, &name):
		return fmt.Errorf("its certificate is for another name (%w); write that name in the address", err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return errors.New("its certificate has expired or is not valid yet; renew it there, or set the clock of this machine")
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("it does not speak TLS at this address; write http, or the address for https")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("nothing listens there; start it, or write another address")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("it did not answer in time")
	}
	return err
}
