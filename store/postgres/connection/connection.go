// Package connection defines how the stores in PostgreSQL reach their server, and what its errors mean.
package connection

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"voltbus/fault"
	"voltbus/store/postgres/setting"
)

// Settings tell where a database is. URL is required.
type Settings struct {
	URL          string      // postgres://user@host:port/database; no password in it
	PasswordFile string      // holds the password; read for each connection; PGPASSWORD or ~/.pgpass if empty
	TLS          setting.TLS // the zero TLS verifies, like the mode verify
	Schema       string      // of all tables; "voltbus" if empty
	Client       string      // the name of this program's connections on the server
	Section      string      // of the configuration, for messages; "store" if empty
}

// DefaultSchema is the default schema of the tables.
const DefaultSchema = "voltbus"

// LockTime is how long to wait for a lock that the server may still hold for a broken connection.
const LockTime = 3 * time.Second

const dialTime = 10 * time.Second

var (
	errSchema = errors.New("is not the name of a schema: up to 63 small letters, digits and _, beginning with a letter")
	errCA     = errors.New("holds no certificate in PEM form")
)

var schemaName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// Storable reports whether PostgreSQL can store the text.
func Storable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// Stored converts a text to one that PostgreSQL can store.
func Stored(text string) string {
	if Storable(text) {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "")
}

// Complete sets the defaults, or returns fault.Invalid.
func (s *Settings) Complete(op string) error {
	if s.Schema == "" {
		s.Schema = DefaultSchema
	}
	if s.Section == "" {
		s.Section = "store"
	}
	switch {
	case s.URL == "":
		return s.noURL(op)
	case !schemaName.MatchString(s.Schema):
		return fault.E(op, fault.Invalid, s.Schema, errSchema)
	}
	return nil
}

func (s *Settings) noURL(op string) error {
	return fault.E(op, fault.Invalid, s.Section+".url", fmt.Errorf("the store needs the database's address: set %s.url, such as postgres://voltbus@db.example.org/voltbus", s.Section))
}

// Config returns how to connect. It contains no password if that comes from a file: see ReadPassword.
func (s *Settings) Config(op string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(s.URL)
	if err != nil {
		return nil, s.noURL(op) // the error's message may repeat the address
	}
	if u, err := url.Parse(s.URL); err != nil || u.Scheme == "" {
		return nil, s.noURL(op)
	} else if _, set := u.User.Password(); set || u.Query().Has("password") {
		return nil, fault.E(op, fault.Invalid, s.Section+".url", fmt.Errorf("the address holds a password, which others could read: write it to a file and name that in %s.password_file", s.Section))
	}
	cfg.Fallbacks = nil
	if cfg.TLSConfig, err = tlsConfig(op, cfg.Host, &s.TLS); err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = dialTime
	cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec // planned with the actual values, so that days are excluded early
	cfg.StatementCacheCapacity, cfg.DescriptionCacheCapacity = 0, 0
	cfg.RuntimeParams = map[string]string{
		"application_name": s.Client, "search_path": s.Schema, "timezone": "UTC", "datestyle": "ISO",
		"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
		"max_parallel_workers_per_gather": "0", // rows come in the order of their points
		"jit":                             "off", "random_page_cost": "1.1", "synchronous_commit": "on", "client_encoding": "UTF8", "bytea_output": "hex",
	}
	return cfg, nil
}

// ReadPassword reads the password from its file, if there is one.
func (s *Settings) ReadPassword(_ context.Context, cfg *pgx.ConnConfig) error {
	if s.PasswordFile == "" {
		return nil
	}
	data, err := os.ReadFile(s.PasswordFile)
	if err != nil {
		return fault.E("postgres.Open", fault.Refused, s.PasswordFile, fmt.Errorf("the password cannot be read: %w", err))
	}
	cfg.Password = strings.TrimRight(string(data), "\r\n")
	return nil
}

// tlsConfig returns nil for a connection without encryption: for one to this machine, unless certificates are named.
func tlsConfig(op, host string, t *setting.TLS) (*tls.Config, error) {
	if t.Mode == "off" || strings.HasPrefix(host, "/") || (t.CA == "" && t.Certificate == "" && loopback(host)) {
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
	if t.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, fault.E(op, fault.Invalid, t.Certificate, fmt.Errorf("certificate and key cannot be used: %w", err))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
