// Package kafka sends readings to Kafka and what else speaks its protocol: a record for each reading, whose key is the point, so that
// the readings of a point stay in order, and whose value is an object in JSON.
package kafka

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"voltbus/fault"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint/kafkaclient"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations. The client sends several requests at a time itself.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 100_000, Parallel: 1} } //nolint:mnd // it makes batches of its own

type writer struct {
	entry   *setting.Sink
	access  setting.Access
	options []kgo.Opt

	mu     sync.Mutex
	client *kgo.Client
}

func open(s *setting.Sink, e destination.Environment) (destination.Writer, error) {
	a := s.Access()
	options, err := kafkaclient.Options(&a, e.Node)
	if err != nil {
		return nil, err
	}
	return &writer{entry: s, access: a, options: append(options,
		kgo.DefaultProduceTopic(s.Into), kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerBatchCompression(kgo.SnappyCompression(), kgo.NoCompression()),
		kgo.MaxBufferedRecords(maxBuffered), kgo.ProducerBatchMaxBytes(maxBatch), kgo.RecordRetries(retries),
		kgo.AllowIdempotentProduceCancellation(), // a destination that is away must not hold up the end of the node; what was under way is sent again
	)}, nil
}

const (
	maxBuffered = 200_000
	maxBatch    = 1_000_000 // what brokers accept by default
	retries     = 3         // of a record, before the sink tries again
)

// connected returns the client. It connects when it is used.
func (w *writer) connected() (*kgo.Client, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client != nil {
		return w.client, nil
	}
	c, err := kgo.NewClient(w.options...)
	if err != nil {
		return nil, fault.E("sinks.Append", fault.Invalid, w.entry.URL, err)
	}
	w.client = c
	return c, nil
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) (list []destination.Refusal, err error) {
	client, err := w.connected()
	if err != nil {
		return nil, err
	}
	records := make([]kgo.Record, len(rows))
	var buffer []byte
	results := make(chan result, len(rows))
	for i := range rows {
		begin := len(buffer)
		buffer = destination.AppendDocument(buffer, "time", &rows[i])
		records[i].Value = buffer[begin:len(buffer):len(buffer)]
		records[i].Key = []byte(rows[i].Name)
		client.Produce(ctx, &records[i], func(_ *kgo.Record, err error) { results <- result{i, err} })
	}
	var failed error
	for range rows {
		switch r := <-results; {
		case r.err == nil:
		case errors.Is(r.err, kerr.MessageTooLarge), errors.Is(r.err, kerr.InvalidRecord), errors.Is(r.err, kerr.RecordListTooLarge):
			list = append(list, destination.Refusal{Row: r.row, Reason: r.err.Error()})
		default:
			failed = r.err
		}
	}
	if failed != nil {
		return nil, fault.E("sinks.Append", fault.Unavailable, w.entry.URL, kafkaclient.Plain(&w.access, "into", w.entry.Into, failed))
	}
	return list, nil
}

type result struct {
	row int
	err error
}

// Close implements destination.Writer.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client != nil {
		w.client.Close()
		w.client = nil
	}
	return nil
}

// Probe implements destination.Prober.
func (w *writer) Probe(ctx context.Context) error {
	client, err := kgo.NewClient(append(slices.Clone(w.options), kgo.RequestRetries(1))...)
	if err != nil {
		return fault.E("sinks.Try", fault.Invalid, w.entry.URL, err)
	}
	defer client.Close()
	ask := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = new(w.entry.Into)
	ask.Topics = append(ask.Topics, topic)
	a, err := ask.RequestWith(ctx, client)
	if err == nil && len(a.Topics) == 1 {
		err = kerr.ErrorForCode(a.Topics[0].ErrorCode)
	}
	if err != nil {
		return fault.E("sinks.Try", fault.Unavailable, w.entry.URL, kafkaclient.Plain(&w.access, "into", w.entry.Into, err))
	}
	return nil
}
