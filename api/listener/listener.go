// Package listener serves the page and the API on a socket: with TLS beyond loopback, without it on loopback.
package listener

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"voltbus/api"
	"voltbus/fault"
	"voltbus/internal/admission"
)

// Listener is a socket, and the server that uses it. It is safe for concurrent use.
type Listener struct {
	socket  net.Listener // nil if it listens nowhere
	secure  bool
	clients *x509.CertPool // authorities whose client certificates are requested; nil for none
	handler http.Handler
	http    *http.Server
	end     context.CancelFunc // ends live streams
}

// Open listens at an address; "" listens nowhere. limits bound the connections.
func Open(address string, limits admission.Limits) (*Listener, error) {
	l := &Listener{}
	if address == "" {
		return l, nil
	}
	socket, err := net.Listen("tcp", address) //nolint:noctx // local and immediate
	if err != nil {
		return nil, fault.E("node.Open", fault.Conflict, address, fmt.Errorf(
			"cannot listen for the page and the API: %w; stop the program that uses the port, or set listen.http to another address", err))
	}
	l.socket = admission.New(socket, limits)
	l.secure = !loopback(l.socket.Addr())
	return l, nil
}

func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// Secure encrypts connections from this machine too. It is called before Answer.
func (l *Listener) Secure() { l.secure = true }

// Ask requests from clients a certificate of one of these authorities, which is checked with each request. Connections from this machine are
// encrypted, too. It is called before Answer.
func (l *Listener) Ask(authorities *x509.CertPool) { l.secure, l.clients = true, authorities }

// Hosts returns the names by which browsers may reach the API; nil for any.
func (l *Listener) Hosts() []string {
	if l.socket == nil || l.secure {
		return nil
	}
	return api.LoopbackHosts()
}

// Answer sets the handler of requests that arrive once Run is called. certificates are for connections from other machines.
func (l *Listener) Answer(handler http.Handler, certificates func() *tls.Config, log *slog.Logger) {
	base, end := context.WithCancel(context.Background())
	l.handler, l.end = handler, end
	l.http = &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return base }, ConnContext: admission.Context, MaxHeaderBytes: api.MaxHeader,
	}
	if l.secure {
		c := certificates()
		if l.clients != nil {
			c.ClientAuth, c.ClientCAs = tls.RequestClientCert, l.clients // so that a wrong one gets an error message
		}
		l.socket = tls.NewListener(l.socket, c)
	}
}

// Handler returns the handler.
func (l *Listener) Handler() http.Handler { return l.handler }

// FromHere returns the address at which programs on this machine reach a node that listens at an address; if that is
// all interfaces, the machine's own address, which the certificate names.
func FromHere(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return address
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// URL returns the page's URL for programs on this machine; "" if it listens nowhere.
func (l *Listener) URL() string {
	if l.socket == nil {
		return ""
	}
	address := FromHere(l.socket.Addr().String())
	if l.secure {
		return "https://" + address
	}
	return "http://" + address
}

// Run serves until ctx ends, and then lets requests finish briefly.
func (l *Listener) Run(ctx context.Context) error {
	if l.socket == nil {
		<-ctx.Done()
		return nil
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { //nolint:contextcheck // ctx has ended; requests get a moment of grace
		l.end()
		grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		stopped <- l.http.Shutdown(grace)
	})
	err := l.http.Serve(l.socket)
	if !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serve the page and the API: %w", err)
	}
	if err := <-stopped; err != nil {
		return l.http.Close()
	}
	return nil
}

// Close releases what Run does not. It can be called at any time after Open.
func (l *Listener) Close() error {
	if l.end != nil {
		l.end()
	}
	if l.socket == nil {
		return nil
	}
	if l.http != nil {
		if err := l.http.Close(); err != nil {
			return err
		}
	}
	if err := l.socket.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
