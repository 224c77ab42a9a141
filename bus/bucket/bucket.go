// Package bucket keeps small records and larger packages at all replicas: what was put into one is on the disks of a majority.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

// Config says what a bucket is.
type Config struct {
	Name     string
	Replicas func() int // how many shall have it when it is made
	MaxBytes int64      // of the packages
}

// Bucket is a bucket. It is safe for concurrent use.
type Bucket struct {
	js  jetstream.JetStream
	cfg Config

	mu       sync.Mutex
	records  jetstream.KeyValue
	packages jetstream.ObjectStore
}

const (
	askTime = 5 * time.Second
	moved   = 30 * time.Second // for one package
)

// New returns a bucket over a connection to the account that the replicas share. It does nothing yet.
func New(conn *nats.Conn, cfg Config) (*Bucket, error) {
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(askTime))
	if err != nil {
		return nil, fault.E("bucket.New", fault.Internal, cfg.Name, trouble.Of(err))
	}
	return &Bucket{js: js, cfg: cfg}, nil
}

// open opens the bucket, and makes it if there is none.
func (b *Bucket) open(ctx context.Context) (jetstream.KeyValue, jetstream.ObjectStore, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.packages != nil {
		return b.records, b.packages, nil
	}
	records, err := b.js.KeyValue(ctx, b.cfg.Name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		records, err = b.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: b.cfg.Name, History: 1, Replicas: b.cfg.Replicas()})
	}
	if err != nil {
		return nil, nil, b.wrap("bucket.open", err)
	}
	packages, err := b.js.ObjectStore(ctx, b.cfg.Name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		packages, err = b.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: b.cfg.Name, MaxBytes: b.cfg.MaxBytes, Replicas: b.cfg.Replicas()})
	}
	if err != nil {
		return nil, nil, b.wrap("bucket.open", err)
	}
	b.records, b.packages = records, packages
	return records, packages, nil
}

func (b *Bucket) wrap(op string, err error) error {
	kind := fault.Unavailable
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrObjectNotFound):
		kind = fault.NotFound
	case errors.Is(err, jetstream.ErrKeyExists):
		kind = fault.Conflict
	}
	if refused, is := errors.AsType[*jetstream.APIError](err); is && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		kind = fault.Conflict
	}
	return fault.E(op, kind, b.cfg.Name, trouble.Of(err))
}

// List calls each with all records, in no order. Every record has another revision than before it was changed.
func (b *Bucket) List(ctx context.Context, each func(key string, data []byte, revision uint64)) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	records, _, err := b.open(ctx)
	if err != nil {
		return err
	}
	watch, err := records.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return b.wrap("bucket.List", err)
	}
	defer func() { _ = watch.Stop() }()
	for {
		select {
		case e := <-watch.Updates():
			if e == nil {
				return nil
			}
			each(e.Key(), e.Value(), e.Revision())
		case <-ctx.Done():
			return b.wrap("bucket.List", ctx.Err())
		}
	}
}

// Get returns a record and its revision; 0 if there is none.
func (b *Bucket) Get(ctx context.Context, key string) (data []byte, revision uint64, err error) {
	records, _, err := b.open(ctx)
	if err != nil {
		return nil, 0, err
	}
	e, err := records.Get(ctx, key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, 0, nil
	case err != nil:
		return nil, 0, b.wrap("bucket.Get", err)
	}
	return e.Value(), e.Revision(), nil
}

// Put writes a record over the one of a revision, 0 for none, and returns the new one; fault.Conflict if there is another one.
func (b *Bucket) Put(ctx context.Context, key string, data []byte, revision uint64) (uint64, error) {
	records, _, err := b.open(ctx)
	if err != nil {
		return 0, err
	}
	if revision == 0 {
		revision, err = records.Create(ctx, key, data)
	} else {
		revision, err = records.Update(ctx, key, data, revision)
	}
	if err != nil {
		return 0, b.wrap("bucket.Put", err)
	}
	return revision, nil
}

// Delete removes a record; it is no error if there is none.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	records, _, err := b.open(ctx)
	if err != nil {
		return err
	}
	if err := records.Delete(ctx, key); err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return b.wrap("bucket.Delete", err)
	}
	return nil
}

// Discard removes a package; it is no error if there is none.
func (b *Bucket) Discard(ctx context.Context, name string) error {
	_, packages, err := b.open(ctx)
	if err != nil {
		return err
	}
	if err := packages.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return b.wrap("bucket.Discard", err)
	}
	return nil
}

// Store replaces the package of a name.
func (b *Bucket) Store(ctx context.Context, name string, from io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, moved)
	defer cancel()
	_, packages, err := b.open(ctx)
	if err != nil {
		return err
	}
	if _, err := packages.Put(ctx, jetstream.ObjectMeta{Name: name}, from); err != nil {
		return b.wrap("bucket.Store", fmt.Errorf("store the package: %w", err))
	}
	return nil
}

// Load hands over the package of a name; fault.NotFound if there is none.
func (b *Bucket) Load(ctx context.Context, name string, take func(io.Reader) error) error {
	_, packages, err := b.open(ctx)
	if err != nil {
		return err
	}
	found, err := packages.Get(ctx, name)
	if err != nil {
		return b.wrap("bucket.Load", err)
	}
	defer found.Close()
	if err := take(found); err != nil {
		return err
	}
	if err := found.Error(); err != nil {
		return b.wrap("bucket.Load", err)
	}
	return nil
}
