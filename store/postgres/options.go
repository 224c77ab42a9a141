package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/fault"
	"voltbus/store"
)

// Options say where the database is and who writes. URL and Writer are required.
type Options struct {
	URL          string // postgres://user@host:port/database; no password in it
	PasswordFile string // holds the password; read anew for each connection; PGPASSWORD or ~/.pgpass if empty
	TLS          TLS
	Schema       string // of all tables, made if it is absent; "voltbus" if empty

	// Writer is the node's name. Its cursor and the positions of the origins that it stores
	// belong to it as long as it is connected.
	Writer string

	// Patient opens the store also while the server does not answer: it is asked again by each
	// call. Whatever else is wrong is said at once.
	Patient bool

	Retention store.Retention
	Grace     time.Duration // how long after its end a day is closed; 10 minutes if 0
	Log       *slog.Logger  // silent if nil
}

// TLS says how the way to the server is protected. The zero TLS verifies the server's certificate
// by the system's authorities, except on this machine, where nothing is encrypted.
type TLS struct {
	Off  bool   // no encryption
	CA   string // file with the authorities that the server's certificate may come from
	Cert string // file with the certificate that this node shows, with Key
	Key  string
}

const (
	defaultSchema = "voltbus"
	readers       = 8 // connections for questions at most
	dialTime      = 10 * time.Second
)

var (
	errNoURL    = errors.New("the store needs the database's address: set store.url, such as postgres://voltbus@db.example.org/voltbus")
	errNoWriter = errors.New("the store needs the node's name: set node.name")
	errSchema   = errors.New("is not the name of a schema: up to 63 small letters, digits and _, beginning with a letter")
	errPassword = errors.New("the address holds a password, which others could read: write it to a file and name that in store.password_file")
	errCA       = errors.New("holds no certificate in PEM form")
)

var schemaName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// complete returns the options with their defaults, or fault.Invalid.
func (o Options) complete() (Options, error) {
	const op = "postgres.Open"
	if o.Schema == "" {
		o.Schema = defaultSchema
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case o.URL == "":
		return o, fault.E(op, fault.Invalid, "", errNoURL)
	case o.Writer == "" || !storable(o.Writer):
		return o, fault.E(op, fault.Invalid, o.Writer, errNoWriter)
	case !schemaName.MatchString(o.Schema):
		return o, fault.E(op, fault.Invalid, o.Schema, errSchema)
	}
	return o, nil
}

// connConfig returns how to connect. It holds no password if that comes from a file.
func (o *Options) connConfig() (*pgx.ConnConfig, error) {
	const op = "postgres.Open"
	cfg, err := pgx.ParseConfig(o.URL)
	if err != nil {
		// The error's text may repeat the address.
		return nil, fault.E(op, fault.Invalid, "store.url", errNoURL)
	}
	if u, err := url.Parse(o.URL); err != nil || u.Scheme == "" {
		return nil, fault.E(op, fault.Invalid, "store.url", errNoURL)
	} else if _, set := u.User.Password(); set || u.Query().Has("password") {
		return nil, fault.E(op, fault.Invalid, "store.url", errPassword)
	}
	cfg.Fallbacks = nil
	if cfg.TLSConfig, err = o.TLS.config(cfg.Host); err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = dialTime
	cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec // planned with the values at hand, so that days are left out early
	cfg.StatementCacheCapacity, cfg.DescriptionCacheCapacity = 0, 0
	cfg.RuntimeParams = map[string]string{
		"application_name": "voltbus " + o.Writer, "search_path": o.Schema, "timezone": "UTC", "datestyle": "ISO",
		"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
		"max_parallel_workers_per_gather": "0", // rows come in the order of their points
		"jit":                             "off", "random_page_cost": "1.1", "synchronous_commit": "on", "client_encoding": "UTF8", "bytea_output": "hex",
	}
	return cfg, nil
}

// readPassword takes the password from its file.
func (o *Options) readPassword(_ context.Context, cfg *pgx.ConnConfig) error {
	if o.PasswordFile == "" {
		return nil
	}
	data, err := os.ReadFile(o.PasswordFile)
	if err != nil {
		return fault.E("postgres.Open", fault.Refused, o.PasswordFile, fmt.Errorf("the password cannot be read: %w", err))
	}
	cfg.Password = strings.TrimRight(string(data), "\r\n")
	return nil
}

// config returns nil for a connection without encryption.
func (t *TLS) config(host string) (*tls.Config, error) {
	const op = "postgres.Open"
	if t.Off || strings.HasPrefix(host, "/") || (t.CA == "" && t.Cert == "" && loopback(host)) {
		return nil, nil //nolint:nilnil // no encryption is an answer
	}
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fault.E(op, fault.Invalid, t.CA, fmt.Errorf("the authorities cannot be read: %w", err))
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fault.E(op, fault.Invalid, t.CA, errCA)
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fault.E(op, fault.Invalid, t.Cert, fmt.Errorf("certificate and key cannot be used: %w", err))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
