// Package kafka takes records of topics of Kafka, and of what else speaks its protocol, as a member of a consumer group. The offsets are committed
// when the readings are on disk.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"voltbus/fault"
	"voltbus/sink/endpoint/kafkaclient"
	access "voltbus/sink/setting"
	"voltbus/source"
	"voltbus/source/setting"
)

// Open makes the reader of an entry, see source.Kind.
func Open(s *setting.Source, node string) (source.Reader, error) {
	r := &reader{entry: s, access: s.Access()}
	options, err := kafkaclient.Options(&r.access, node)
	if err != nil {
		return nil, err
	}
	r.options = append(options,
		kgo.ConsumerGroup(s.Group), kgo.ConsumeTopics(s.Topics()...), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxBytes(maxFetch), kgo.RequiredAcks(kgo.AllISRAcks()),
	)
	return r, nil
}

type reader struct {
	entry   *setting.Source
	access  access.Access
	options []kgo.Opt

	client  *kgo.Client
	records []*kgo.Record
	list    []source.Message
}

const (
	maxFetch = 16 << 20        // bytes that wait to be read
	quiet    = 5 * time.Second // without a record: is somebody there?
)

// Read implements source.Reader.
func (r *reader) Read(ctx context.Context) ([]source.Message, error) {
	list, err := r.read(ctx)
	if err != nil {
		return nil, r.failed(err)
	}
	return list, nil
}

func (r *reader) failed(err error) error {
	return fault.E("sources.Read", fault.Unavailable, r.entry.URL, kafkaclient.Plain(&r.access, "from", r.entry.From, err))
}

func (r *reader) read(ctx context.Context) ([]source.Message, error) {
	if r.client == nil {
		c, err := kgo.NewClient(r.options...)
		if err != nil {
			return nil, err
		}
		r.client = c
		if err := r.ping(ctx); err != nil { // the client itself would try for ever, and tell nobody
			return nil, err
		}
	}
	waiting, stop := context.WithTimeout(ctx, quiet)
	defer stop()
	r.client.AllowRebalance()
	fetched := r.client.PollRecords(waiting, r.entry.Batch)
	if fetched.IsClientClosed() {
		return nil, kgo.ErrClientClosed
	}
	r.records = fetched.Records()
	for _, e := range fetched.Errors() {
		if len(r.records) == 0 && !errors.Is(e.Err, context.DeadlineExceeded) && !errors.Is(e.Err, context.Canceled) {
			return nil, e.Err
		}
	}
	if len(r.records) == 0 {
		return nil, r.ping(ctx)
	}
	r.list = r.list[:0]
	for _, one := range r.records {
		r.list = append(r.list, message(one))
	}
	return r.list, nil
}

func (r *reader) ping(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, quiet)
	defer stop()
	return r.client.Ping(ctx)
}

// message returns a record as a message. Its time counts milliseconds; the offset gives the microseconds, so that records of one
// millisecond are different readings, and the same ones when they are delivered again.
func message(r *kgo.Record) source.Message {
	m := source.Message{Topic: r.Topic, Place: fmt.Sprintf("%s, partition %d, offset %d", r.Topic, r.Partition, r.Offset), Payload: r.Value}
	if len(r.Key) > 0 && utf8.Valid(r.Key) {
		m.Topic += "/" + strings.Trim(string(r.Key), "/")
	}
	if r.Timestamp.UnixMilli() > 0 {
		m.Time = r.Timestamp.UTC().Truncate(time.Millisecond).Add(time.Duration(r.Offset%1000) * time.Microsecond) //nolint:mnd // microseconds of a millisecond
	}
	return m
}

// Divert implements source.Reader.
func (r *reader) Divert(ctx context.Context, list []source.Unread) error {
	copies := make([]*kgo.Record, len(list))
	for i, one := range list {
		from := r.records[one.Message]
		copies[i] = &kgo.Record{
			Topic: r.entry.DeadLetters, Key: from.Key, Value: from.Value, Timestamp: from.Timestamp,
			Headers: append(slices.Clip(from.Headers),
				kgo.RecordHeader{Key: "voltbus-reason", Value: []byte(one.Reason)}, kgo.RecordHeader{Key: "voltbus-topic", Value: []byte(from.Topic)},
				kgo.RecordHeader{Key: "voltbus-partition", Value: strconv.AppendInt(nil, int64(from.Partition), 10)},
				kgo.RecordHeader{Key: "voltbus-offset", Value: strconv.AppendInt(nil, from.Offset, 10)}),
		}
	}
	if err := r.client.ProduceSync(ctx, copies...).FirstErr(); err != nil {
		return fault.E("sources.Divert", fault.Unavailable, r.entry.DeadLetters, kafkaclient.Plain(&r.access, "dead_letters", r.entry.DeadLetters, err))
	}
	return nil
}

// Answer implements source.Reader.
func (r *reader) Answer(ctx context.Context) error {
	if err := r.client.CommitRecords(ctx, r.records...); err != nil {
		return r.failed(err)
	}
	r.client.AllowRebalance()
	return nil
}

// Close implements source.Reader.
func (r *reader) Close() error {
	if r.client != nil {
		r.client.CloseAllowingRebalance()
	}
	r.client, r.records = nil, nil
	return nil
}
