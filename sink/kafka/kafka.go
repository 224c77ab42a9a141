// Package kafka sends readings to Kafka and what else speaks its protocol: a record for each reading, whose key is the point, so that
// the readings of a point stay in order, and whose value is an object in JSON.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"voltbus/fault"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations. The client sends several requests at a time itself.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 100_000, Parallel: 1} } //nolint:mnd // it makes batches of its own

type writer struct {
	entry   *setting.Sink
	options []kgo.Opt

	mu     sync.Mutex
	client *kgo.Client
}

func open(s *setting.Sink, e destination.Environment) (destination.Writer, error) {
	scheme, rest, _ := strings.Cut(s.URL, "://")
	hosts, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fault.E("sinks.Open", fault.Invalid, s.URL, err)
	}
	w := &writer{entry: s, options: []kgo.Opt{
		kgo.SeedBrokers(strings.Split(strings.TrimSuffix(hosts, "/"), ",")...), kgo.ClientID("voltbus-" + e.Node), kgo.DefaultProduceTopic(s.Into),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerBatchCompression(kgo.SnappyCompression(), kgo.NoCompression()),
		kgo.MaxBufferedRecords(maxBuffered), kgo.ProducerBatchMaxBytes(maxBatch), kgo.RecordRetries(retries),
	}}
	if scheme == "kafkas" {
		secure, err := endpoint.TLS(s)
		if err != nil {
			return nil, err
		}
		w.options = append(w.options, kgo.DialTLSConfig(secure))
	}
	if s.User != "" {
		how, err := w.sasl(values.Get("sasl"))
		if err != nil {
			return nil, err
		}
		w.options = append(w.options, kgo.SASL(how))
	}
	return w, nil
}

const (
	maxBuffered = 200_000
	maxBatch    = 1_000_000 // what brokers accept by default
	retries     = 3         // of a record, before the sink tries again
)

// sasl returns how the user is authenticated. The password is read for each connection.
func (w *writer) sasl(name string) (sasl.Mechanism, error) {
	user := func() (string, string, error) {
		password, err := endpoint.Password(w.entry)
		return w.entry.User, password, err
	}
	switch strings.ToLower(name) {
	case "", "plain":
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			name, password, err := user()
			return plain.Auth{User: name, Pass: password}, err
		}), nil
	case "scram-sha-256", "scram-sha-512":
		secret := func(context.Context) (scram.Auth, error) {
			name, password, err := user()
			return scram.Auth{User: name, Pass: password}, err
		}
		if strings.HasSuffix(name, "512") {
			return scram.Sha512(secret), nil
		}
		return scram.Sha256(secret), nil
	}
	return nil, fault.E("sinks.Open", fault.Invalid, name, errors.New("sasl is unknown; write plain, scram-sha-256 or scram-sha-512"))
}

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
		return nil, fault.E("sinks.Append", fault.Unavailable, w.entry.URL, w.plain(failed))
	}
	return list, nil
}

type result struct {
	row int
	err error
}

// plain says in plain words what is wrong.
func (w *writer) plain(err error) error {
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("there is no topic %q; make it, or write another one as into", w.entry.Into)
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("the user %q may not write to the topic %q; give it the right", w.entry.User, w.entry.Into)
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return fmt.Errorf("it does not accept the user %q or the password; look at user and password_file", w.entry.User)
	}
	return endpoint.Plain(err)
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
