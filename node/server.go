package node

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"voltbus/api"
	"voltbus/api/intake"
	"voltbus/fault"
	"voltbus/internal/admission"
	"voltbus/internal/atomicfile"
	"voltbus/promql"
	"voltbus/web"
)

// AddressFile is where a running node writes its addresses, in the data directory.
const AddressFile = "node.json"

// Addresses tells the programs on this machine how to reach the node.
type Addresses struct {
	Name    string    `json:"name"`
	HTTP    string    `json:"http,omitempty"` // an URL
	Bus     string    `json:"bus,omitempty"`  // host:port
	MQTT    string    `json:"mqtt,omitempty"` // host:port
	MQTTS   string    `json:"mqtts,omitempty"`
	Process int       `json:"process"`
	Started time.Time `json:"started"`
}

// server is the page and the API on a socket.
type server struct {
	handler  http.Handler
	listener net.Listener // nil if it does not listen
	secure   bool
	http     *http.Server
	end      context.CancelFunc // ends live streams
}

func (n *Node) openServer(context.Context) error { //nolint:contextcheck // requests end with the server, not with Open
	limits := n.opts.Config.Ingest
	cfg := api.Config{
		Auth: n.identity.Logins, People: n.identity.Logins, Node: n.opts.Config.Node.Name,
		Points: n.catalog, Live: n.bus, Bus: inspector{n.bus}, Ledger: n, Health: n, Devices: n,
		Admission: n.admission, Meters: messagesTo(n.meters), Repeats: n.catalog.Repeats(limits.Retry), Agents: n.agents, Remote: n.asker, Nodes: nodes{n},
		Rates: intake.Rates{Requests: float64(limits.Requests), Samples: float64(limits.Samples)}, Bounds: limits.Bounds(),
		Audit: n.audit, Operations: n.asked, Control: n.control, Version: n.opts.Version, Page: web.Handler(), Log: n.log,
	}
	if n.logbook != nil {
		cfg.Logbook = n.logbook
	}
	if n.history.Store() != nil {
		cfg.Prometheus = promql.New(n.wide, n.catalog, now, n.opts.Version.Version)
		cfg.Stats = n.history.Store()
	}
	cfg.Lab = n.opts.Lab
	if n.supervisor != nil {
		cfg.Processes = n.supervisor
	}
	signature, err := n.identity.Node.Sign([]byte("browsers that have logged in")) // the same each time, and nobody else's
	if err != nil {
		return fault.E("node.Open", fault.Internal, "node.nk", err)
	}
	key := sha256.Sum256(signature)
	cfg.BrowserKey = key[:]
	address := string(n.opts.Config.Listen.HTTP)
	s := &server{}
	if address != "" {
		l, err := net.Listen("tcp", address) //nolint:noctx // local and immediate
		if err != nil {
			return fault.E("node.Open", fault.Conflict, address, fmt.Errorf(
				"cannot listen for the page and the API: %w; stop the program that uses the port, or set listen.http to another address", err))
		}
		s.listener = admission.New(l, admission.Limits{Total: n.files.HTTP, Address: max(n.files.HTTP/4, 1)})
		if loopback(s.listener.Addr()) {
			cfg.Hosts = api.LoopbackHosts()
		} else {
			s.secure = true
		}
	}
	s.handler = n.letMQTT(api.New(cfg)) //nolint:contextcheck // requests have contexts of their own
	base, end := context.WithCancel(context.Background())
	s.end = end
	s.http = &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog:    slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return base }, ConnContext: admission.Context, MaxHeaderBytes: api.MaxHeader,
	}
	if s.secure {
		s.listener = tls.NewListener(s.listener, n.identity.Certificates.ServerConfig())
	}
	n.server = s
	return n.announce()
}

func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// fromHere returns where programs on this machine connect to an address on which the node listens; of all
// interfaces to that of the machine itself, whose address the certificate names.
func fromHere(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return address
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// url returns where programs on this machine find the page; "" if it does not listen.
func (s *server) url() string {
	if s.listener == nil {
		return ""
	}
	address := fromHere(s.listener.Addr().String())
	if s.secure {
		return "https://" + address
	}
	return "http://" + address
}

// run serves until ctx ends, and then lets requests finish for a moment.
func (s *server) run(ctx context.Context) error {
	if s.listener == nil {
		<-ctx.Done()
		return nil
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { //nolint:contextcheck // ctx has ended; requests get a moment of grace
		s.end()
		grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		stopped <- s.http.Shutdown(grace)
	})
	err := s.http.Serve(s.listener)
	if !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serve the page and the API: %w", err)
	}
	if err := <-stopped; err != nil {
		return s.http.Close()
	}
	return nil
}

func (s *server) close() error {
	s.end()
	if s.listener == nil {
		return nil
	}
	if err := s.http.Close(); err != nil {
		return err
	}
	if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// announce writes the addresses for the programs on this machine.
func (n *Node) announce() error {
	data, err := json.Marshal(Addresses{
		Name: n.opts.Config.Node.Name, HTTP: n.server.url(), Bus: fromHere(n.bus.Addr()), MQTT: n.MQTTAddr(false), MQTTS: n.MQTTAddr(true), Process: os.Getpid(), Started: n.started,
	})
	if err != nil {
		return fmt.Errorf("write the addresses: %w", err)
	}
	file := filepath.Join(n.opts.Config.Node.Data, AddressFile)
	if err := (atomicfile.Writer{}).Write(file, append(data, '\n'), 0o600); err != nil {
		return fault.E("node.Open", fault.Unavailable, file, err)
	}
	return nil
}

func (n *Node) forgetAddresses() error {
	err := os.Remove(filepath.Join(n.opts.Config.Node.Data, AddressFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
