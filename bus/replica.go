package bus

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"voltbus/bus/blocklog"
	"voltbus/bus/bucket"
	"voltbus/bus/cluster"
	"voltbus/bus/lease"
	"voltbus/bus/mesh"
)

// Cluster says which replicas a bus is one of; the zero value for a node alone.
type Cluster = cluster.Config

// PrepareCluster returns the cluster that a node is a replica of, the zero value if there are no replicas, and where the log is in
// its data directory: fault.Conflict if there is one of the other kind.
func PrepareCluster(data, self, listen, keyFile string, each func(do func(name, address string, witness bool))) (c Cluster, dir string, err error) {
	each(func(name, address string, witness bool) {
		c.Replicas = append(c.Replicas, cluster.Replica{Name: name, Address: address, Witness: witness})
	})
	if len(c.Replicas) > 0 {
		c.Self, c.Listen = self, listen
		slices.SortFunc(c.Replicas, func(a, b cluster.Replica) int { return strings.Compare(a.Name, b.Name) })
		if c.Key, err = cluster.ReadKey(keyFile); err != nil {
			return c, "", err
		}
	}
	if dir, err = c.LogDir(data); err == nil && c.Enabled() {
		c.Members, err = cluster.OpenMembers(filepath.Join(data, membersFile), self, c.Replicas)
	}
	return c, dir, err
}

// membersFile is the file of the data directory that lists the replicas, once that was ever read from the others.
const membersFile = "replicas.json"

func (b *Bus) engine() blocklog.Engine {
	e := blocklog.Engine{Server: b.srv, Conn: b.log, Store: b.jets, Log: b.cfg.Log}
	if b.cfg.Cluster.Enabled() {
		e.Trouble = func() error {
			s := b.Cluster()
			return s.Trouble()
		}
	}
	return e
}

// LogOf returns the log of another replica, which this one may only read. It need not be there yet.
func (b *Bus) LogOf(replica string) (*blocklog.Log, error) { return blocklog.Of(b.engine(), replica) }

// MembershipOf returns what changes which replicas there are. changed is called when that has changed; it may be nil.
func MembershipOf(b *Bus, changed func() error) (*cluster.Membership, error) {
	return cluster.NewMembership(&b.cfg.Cluster, cluster.MembershipOptions{
		Server: b.srv, Conn: b.log, System: func() (*nats.Conn, error) { return b.connect(systemConn) }, Changed: changed, Log: b.cfg.Log,
	})
}

// Replicas returns the names of the other replicas, and of those that were removed; none for a node alone.
func (b *Bus) Replicas() []string { return b.cfg.Cluster.Recorded() }

// Cluster returns how this bus sees the replicas.
func (b *Bus) Cluster() cluster.Status { return b.cfg.Cluster.Look(b.srv) }

// Channel returns the channel to the other replicas.
func (b *Bus) Channel() *cluster.Channel { return cluster.NewChannel(b.log, b.cfg.Name) }

// Mesh returns what this replica has in common with the others; nil for a node alone.
func (b *Bus) Mesh() *mesh.Mesh {
	if !b.cfg.Cluster.Enabled() {
		return nil
	}
	return mesh.New(mesh.Config{Self: b.cfg.Cluster.Self, Others: b.cfg.Cluster.Working, Conn: b.mesh, Look: b.Cluster, Open: b.OpenLog})
}

// BucketOf returns what the replicas have in common under a name; nil for a node alone.
func BucketOf(b *Bus, name string, maxBytes int64) (*bucket.Bucket, error) {
	if !b.cfg.Cluster.Enabled() {
		return nil, nil //nolint:nilnil // a node alone shares nothing
	}
	return bucket.New(b.mesh, bucket.Config{Name: name, Replicas: b.cfg.Cluster.Size, MaxBytes: maxBytes})
}

// LeasesOf returns the leases of a replica, and nil for a node alone.
func LeasesOf(b *Bus) (*lease.Leases, error) {
	if !b.cfg.Cluster.Enabled() {
		return nil, nil //nolint:nilnil // a node alone shares nothing
	}
	register, err := lease.NewStream(b.mesh, b.cfg.Cluster.Size)
	if err != nil {
		return nil, err
	}
	return lease.New(lease.Config{Self: b.cfg.Cluster.Self, Others: b.cfg.Cluster.Working, Register: register, Log: b.cfg.Log}), nil
}
