package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"voltbus/fault"
)

// Membership keeps the list of replicas in a document that is replicated itself, and makes the running server follow it.
type Membership struct {
	cfg     *Config
	srv     *server.Server
	js      jetstream.JetStream
	system  func() (*nats.Conn, error) // to the account of the server itself
	changed func() error
	log     *slog.Logger

	settled bool
	looked  time.Time
}

// MembershipOptions are what a Membership needs of the bus.
type MembershipOptions struct {
	Server  *server.Server
	Conn    *nats.Conn                 // to the account that the replicas share
	System  func() (*nats.Conn, error) // makes a connection to the account of the server itself
	Changed func() error               // is called when the list has changed
	Log     *slog.Logger
}

// NewMembership returns the membership of a replica.
func NewMembership(c *Config, o MembershipOptions) (*Membership, error) {
	js, err := jetstream.New(o.Conn, jetstream.WithDefaultTimeout(askTime))
	if err != nil {
		return nil, fault.E("cluster.NewMembership", fault.Internal, c.Self, err)
	}
	return &Membership{cfg: c, srv: o.Server, js: js, system: o.System, changed: o.Changed, log: o.Log}, nil
}

const (
	bucket    = "cluster"
	listKey   = "replicas"
	lookEvery = time.Second
	settleFor = 30 * time.Second // between two looks at streams that are as they should be
	askTime   = 2 * time.Second
	tryTime   = 2 * askTime // for reading the list and asking who leads
)

// Run follows the list until ctx ends.
func (m *Membership) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := m.follow(ctx); err != nil && ctx.Err() == nil {
			m.log.DebugContext(ctx, "the list of replicas is not followed yet", slog.Any("err", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// follow makes the running server what the list says.
func (m *Membership) follow(ctx context.Context) error {
	kv, err := m.bucket(ctx)
	if err != nil {
		return err
	}
	d, err := m.read(ctx, kv)
	if err != nil {
		return err
	}
	if err := m.take(ctx, &d); err != nil || m.cfg.Members.gone() {
		return err
	}
	for _, r := range d.Replicas {
		if r.Name == m.cfg.Self && r.Joining {
			if err := m.cfg.agrees(r.Witness); err != nil {
				m.log.WarnContext(ctx, "this replica does not join", slog.Any("err", err))
				return err
			}
			return m.put(ctx, kv, d.joined(m.cfg.Self))
		}
	}
	if d.leaving() != "" {
		return m.part(ctx, kv, d)
	}
	if m.settled && time.Since(m.looked) < settleFor {
		return nil
	}
	m.settled, m.looked = false, time.Now()
	if err := errors.Join(m.spread(ctx, d.voting(), false), m.expel(ctx, &d)); err != nil {
		return err
	}
	m.settled = true
	return nil
}

// bucket returns where the list is, and makes it if there is none.
func (m *Membership) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	kv, err := m.js.KeyValue(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		d := m.cfg.Members.Document()
		kv, err = m.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket, Description: "which replicas there are", History: 5, Replicas: d.voting()})
	}
	if err != nil {
		return nil, fmt.Errorf("open the list of replicas: %w", err)
	}
	return kv, nil
}

// read returns the list, and writes that of this replica if there is none.
func (m *Membership) read(ctx context.Context, kv jetstream.KeyValue) (d Document, err error) {
	entry, err := kv.Get(ctx, listKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		text, err := json.Marshal(m.cfg.Members.Document())
		if err == nil {
			_, err = kv.Create(ctx, listKey, text)
		}
		if err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
			return d, fmt.Errorf("write the list of replicas: %w", err)
		}
		entry, err = kv.Get(ctx, listKey)
		if err != nil {
			return d, fmt.Errorf("read the list of replicas: %w", err)
		}
		return decode(entry)
	}
	if err != nil {
		return d, fmt.Errorf("read the list of replicas: %w", err)
	}
	return decode(entry)
}

func decode(entry jetstream.KeyValueEntry) (d Document, err error) {
	if err = json.Unmarshal(entry.Value(), &d); err != nil {
		return d, fmt.Errorf("read the list of replicas: %w", err)
	}
	d.Revision = entry.Revision()
	return d, nil
}

// put writes the list if it is still that from which it was made.
func (m *Membership) put(ctx context.Context, kv jetstream.KeyValue, d Document) error {
	revision := d.Revision
	d.Revision = 0
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write the list of replicas: %w", err)
	}
	d.Revision, err = kv.Update(ctx, listKey, text, revision)
	if err != nil {
		return fmt.Errorf("write the list of replicas, which another one changes: %w", err)
	}
	return m.take(ctx, &d)
}

// take follows a list that is newer than the one that counted.
func (m *Membership) take(ctx context.Context, d *Document) error {
	changed, err := m.cfg.Members.take(d)
	if !changed {
		return err
	}
	m.settled = false
	m.log.InfoContext(ctx, "the list of replicas has changed", slog.Any("replicas", names(d.Replicas)), slog.Uint64("revision", d.Revision))
	if m.cfg.Members.gone() {
		m.log.WarnContext(ctx, "this replica was removed from the cluster: stop it")
		return err
	}
	err = errors.Join(err, m.route(d))
	if m.changed != nil {
		err = errors.Join(err, m.changed())
	}
	return err
}

func names(list []Replica) (out []string) {
	for _, r := range list {
		out = append(out, r.Name)
	}
	return out
}

// route connects the running server to the replicas of a list, and to no others.
func (m *Membership) route(d *Document) error {
	opts := m.cfg.options.Clone()
	opts.Routes = routes(d.Replicas, m.cfg.Self)
	if err := m.srv.ReloadOptions(opts); err != nil {
		return fault.E("cluster.route", fault.Internal, m.cfg.Self, fmt.Errorf("connect to the replicas: %w", err))
	}
	return nil
}

func routes(list []Replica, self string) (urls []*url.URL) {
	for _, r := range list {
		if r.Name != self {
			urls = append(urls, &url.URL{Scheme: "nats-route", Host: r.Address})
		}
	}
	return urls
}

// spread puts each stream that this replica leads, or all, on the disks of n replicas. Streams on one disk stay there.
func (m *Membership) spread(ctx context.Context, n int, all bool) error {
	list := m.js.ListStreams(ctx)
	var errs []error
	for info := range list.Info() {
		if info.Cluster == nil || info.Cluster.Leader != m.cfg.Self && !all || info.Config.Replicas == n || info.Config.Replicas == 1 {
			continue
		}
		cfg := info.Config
		cfg.Replicas = n
		if _, err := m.js.UpdateStream(ctx, cfg); err != nil {
			errs = append(errs, fmt.Errorf("put %s on %d replicas: %w", cfg.Name, n, err))
		}
	}
	return errors.Join(append(errs, list.Err())...)
}

// Add lists one more replica, a witness or not, or another address of one. It joins when it starts with a configuration that lists all,
// and that says of it the same.
func (m *Membership) Add(ctx context.Context, name, address string, witness bool) error {
	return m.change(ctx, func(d Document) (Document, error) {
		return d.add(Replica{Name: name, Address: address, Witness: witness}, time.Now())
	})
}

// patience is how long a change is tried while nobody leads the list, or somebody else changes it.
const patience = 15 * time.Second

// change writes another list.
func (m *Membership) change(ctx context.Context, by func(Document) (Document, error)) error {
	status := m.cfg.Look(m.srv)
	if err := status.Trouble(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(lookEvery / 4)
	defer again.Stop()
	for {
		refused, err := m.changeOnce(ctx, by)
		if err == nil || refused {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fault.E("cluster.change", fault.Unavailable, m.cfg.Self, err)
		}
	}
}

// changeOnce reports that the change is refused if trying again does not help.
func (m *Membership) changeOnce(ctx context.Context, by func(Document) (Document, error)) (refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime) // what is asked while nobody leads has no answer
	defer cancel()
	kv, err := m.bucket(ctx)
	if err != nil {
		return false, err
	}
	d, err := m.read(ctx, kv)
	if err != nil {
		return false, err
	}
	next, err := by(d)
	if err != nil {
		return true, err
	}
	if slices.Equal(next.Replicas, d.Replicas) {
		return false, nil
	}
	return false, m.put(ctx, kv, next)
}
