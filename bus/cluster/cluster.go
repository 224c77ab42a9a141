// Package cluster joins the buses of several nodes, the replicas, so that a log of each is on the disks of a majority of them.
package cluster

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"voltbus/fault"
)

// KeyBytes is the length of a shared key.
const KeyBytes = 32

// Replica is a node of a cluster.
type Replica struct {
	Name    string `json:"name"`              // of its node
	Address string `json:"address"`           // host:port where it listens for the others
	Joining bool   `json:"joining,omitempty"` // it was added and has not started yet: it does not count for a majority
	Witness bool   `json:"witness,omitempty"` // it has the logs, and neither clients nor devices
	Leaving bool   `json:"leaving,omitempty"` // it is being removed: the logs leave it, and it does not count for a majority
}

// votes reports whether it counts for a majority.
func (r *Replica) votes() bool { return !r.Joining && !r.Leaving }

// Config says which replicas there are. The zero Config is a node alone.
type Config struct {
	Self     string // which of the replicas this node is
	Listen   string // host:port; "" for the own address
	Key      []byte // KeyBytes that all replicas share; who has them is a replica
	Replicas []Replica
	// Members knows which replicas there are while that changes; nil for those of Replicas for good.
	Members *Members

	options *server.Options
}

// ReadKey reads the key that all replicas share from a file: KeyBytes in base64.
func ReadKey(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.E("cluster.ReadKey", fault.Unavailable, file, err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != KeyBytes {
		return nil, fault.E("cluster.ReadKey", fault.Invalid, file, errKey)
	}
	return key, nil
}

var errKey = fmt.Errorf("it is no key of a cluster, %d random bytes in base64; make one with: head -c %d /dev/urandom | base64", KeyBytes, KeyBytes)

// Enabled reports whether there are other replicas.
func (c *Config) Enabled() bool { return len(c.Replicas) > 0 }

// document returns the list of replicas.
func (c *Config) document() Document {
	if c.Members == nil {
		return Document{Replicas: c.Replicas}
	}
	return c.Members.Document()
}

// Majority is how many replicas must have a block on disk before it is acknowledged.
func (c *Config) Majority() int {
	d := c.document()
	return d.voting()/2 + 1
}

// Size is how many replicas have each block on disk, if all are well.
func (c *Config) Size() (n int) {
	d := c.document()
	for _, r := range d.Replicas {
		if !r.Leaving {
			n++
		}
	}
	return n
}

// agrees reports whether the configuration of this replica says the same as the list: who is a witness has neither clients nor devices.
func (c *Config) agrees(witness bool) error {
	i := slices.IndexFunc(c.Replicas, func(r Replica) bool { return r.Name == c.Self })
	switch {
	case i < 0 || c.Replicas[i].Witness == witness:
		return nil
	case witness:
		return fault.E("cluster.join", fault.Conflict, c.Self, errors.New("was added as a witness; write witness: true at it in cluster.replicas of its configuration, or remove it and add it without --witness"))
	}
	return fault.E("cluster.join", fault.Conflict, c.Self, errors.New("is a witness in its configuration and was added as none; remove it and add it with --witness, or leave witness out in cluster.replicas"))
}

// Working returns the names of the other replicas that have clients and devices, sorted: all but witnesses.
func (c *Config) Working() (names []string) {
	d := c.document()
	for _, r := range d.Replicas {
		if r.Name != c.Self && !r.Witness {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Recorded returns the names of the other replicas, and of those that were removed and have recorded something, sorted.
func (c *Config) Recorded() (names []string) {
	d := c.document()
	for _, r := range d.Replicas {
		if r.Name != c.Self && !r.Joining {
			names = append(names, r.Name)
		}
	}
	for _, f := range d.Former {
		if f.Name != c.Self {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// listen is where this replica listens for the others.
func (c *Config) listen() string {
	if c.Listen != "" {
		return c.Listen
	}
	return c.address()
}

// address is where the others find this replica.
func (c *Config) address() string {
	d := c.document()
	for _, r := range d.Replicas {
		if r.Name == c.Self {
			return r.Address
		}
	}
	return ""
}

// The pace at which replicas look after each other.
const (
	pingEvery = time.Second
	pingsOut  = 3 // a replica that was cut off without a word is given up after one more
	tlsTime   = 5 // seconds
)

// Apply adds the cluster to the options of a server.
func (c *Config) Apply(o *server.Options) error {
	const op = "bus.Open"
	host, port, err := split(c.listen())
	if err != nil {
		return fault.E(op, fault.Invalid, c.listen(), err)
	}
	if err := free(c.listen()); err != nil {
		return err
	}
	o.Cluster = server.ClusterOpts{
		Name: "voltbus", Host: host, Port: port, NoAdvertise: true, Advertise: c.address(), TLSTimeout: tlsTime, PingInterval: pingEvery, MaxPingsOut: pingsOut,
	}
	if o.Cluster.TLSConfig, err = c.tls(time.Now()); err != nil {
		return fault.E(op, fault.Internal, c.Self, err)
	}
	d := c.document()
	for _, r := range d.Replicas {
		if _, _, err := split(r.Address); err != nil {
			return fault.E(op, fault.Invalid, r.Address, err)
		}
	}
	o.Routes, c.options = routes(d.Replicas, c.Self), o
	return nil
}

// free finds out in time whether the port is free: the server itself would stop the process.
func free(listen string) error {
	l, err := net.Listen("tcp", listen) //nolint:noctx // local and immediate
	if err != nil {
		return fault.E("bus.Open", fault.Conflict, listen,
			fmt.Errorf("cannot listen for the other replicas: %w; stop the program that uses the port, or set cluster.listen to another address", err))
	}
	return l.Close()
}

func split(address string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("%q is no address; write host:port, such as 10.0.0.1:6222", address)
	}
	return host, port, nil
}

// serverName is what replicas are called in certificates: who has the key is a replica, whatever its address.
const serverName = "replica.voltbus.internal"

// A certificate is made at each start, and counts for as long as no process runs, also where clocks differ.
const (
	lifetime = 20 * 365 * 24 * time.Hour
	skew     = 30 * 24 * time.Hour
)

// tls returns mutual TLS among those who have the key: the authority of their certificates is derived from it.
func (c *Config) tls(now time.Time) (*tls.Config, error) {
	seed := sha256.Sum256(append([]byte("voltbus replica "), c.Key...))
	authorityKey := ed25519.NewKeyFromSeed(seed[:])
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "voltbus cluster"},
		NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err == nil {
		authority, err = x509.ParseCertificate(der)
	}
	if err != nil {
		return nil, fmt.Errorf("make the authority of the replicas: %w", err)
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of a replica: %w", err)
	}
	der, err = x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: c.Self}, DNSNames: []string{serverName},
		NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, authority, public, authorityKey)
	if err != nil {
		return nil, fmt.Errorf("make the certificate of a replica: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, RootCAs: pool, ServerName: serverName, VerifyConnection: c.verify,
	}, nil
}

// verify refuses who has the key and is not listed, such as a replica that was removed.
func (c *Config) verify(s tls.ConnectionState) error {
	if name := s.PeerCertificates[0].Subject.CommonName; c.Members != nil && !c.Members.admits(name) {
		return fmt.Errorf("%s is no replica of this cluster; add it with voltbus cluster add", name)
	}
	return nil
}

// Status is how this replica sees the cluster.
type Status struct {
	Self      string
	Replicas  []Peer // sorted by name, this one too
	Connected int    // replicas that are reached now, this one too, without those that join or leave
	Voting    int    // replicas without those that join or leave
	Majority  int
	Removed   bool // this replica is no longer one
}

// Peer is a replica as seen by another one.
type Peer struct {
	Replica
	Connected bool
}

// Look returns how this replica sees the cluster.
func (c *Config) Look(srv *server.Server) Status {
	d := c.document()
	s := Status{Self: c.Self, Majority: d.voting()/2 + 1, Removed: c.Members != nil && c.Members.gone()}
	reached := map[string]bool{c.Self: true}
	if routes, err := srv.Routez(nil); err == nil {
		for _, r := range routes.Routes {
			reached[r.RemoteName] = true
		}
	}
	for _, r := range d.Replicas {
		s.Replicas = append(s.Replicas, Peer{r, reached[r.Name]})
		if r.votes() {
			s.Voting++
		}
		if r.votes() && reached[r.Name] {
			s.Connected++
		}
	}
	slices.SortFunc(s.Replicas, func(a, b Peer) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

var errRemoved = errors.New("this replica was removed from the cluster, and acknowledges nothing: stop it")

// Trouble says why nothing can be acknowledged here, nil if a majority is there.
func (s *Status) Trouble() error {
	if s.Removed {
		return fault.E("bus.Cluster", fault.Unavailable, s.Self, errRemoved)
	}
	if s.Connected >= s.Majority {
		return nil
	}
	var away []string
	for _, p := range s.Replicas {
		if !p.Connected && p.votes() {
			away = append(away, p.Name)
		}
	}
	return fault.E("bus.Cluster", fault.Unavailable, s.Self, fmt.Errorf(
		"this replica reaches %d of %d, and %d are needed: nothing is acknowledged here until it reaches more; not reached: %s",
		s.Connected, s.Voting, s.Majority, strings.Join(away, ", ")))
}
