package sinktest

import (
	"context"
	"encoding/json"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"voltbus/sink/destination"
	"voltbus/sink/setting"
)

// Brokers are three brokers that speak the protocol of Kafka, in this process, and keep their topics on disk.
type Brokers struct {
	options []kfake.Opt
	cluster *kfake.Cluster
	addrs   []string
}

const brokers, partitions = 3, 4

// StartBrokers starts brokers with these topics, until the test ends.
func StartBrokers(t testing.TB, topics []string, more ...kfake.Opt) *Brokers {
	t.Helper()
	b := &Brokers{options: append([]kfake.Opt{kfake.NumBrokers(brokers), kfake.SeedTopics(partitions, topics...), kfake.DataDir(t.TempDir())}, more...)}
	b.Start(t)
	t.Cleanup(b.Kill)
	return b
}

// Start starts them again at their addresses, with what they had.
func (b *Brokers) Start(t testing.TB) {
	t.Helper()
	options := b.options
	if len(b.addrs) > 0 {
		var ports []int
		for _, address := range b.addrs {
			_, text, _ := net.SplitHostPort(address)
			port, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			ports = append(ports, port)
		}
		options = append([]kfake.Opt{kfake.Ports(ports...)}, options...)
	}
	c, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	b.cluster, b.addrs = c, c.ListenAddrs()
}

// Kill ends them: connections are cut.
func (b *Brokers) Kill() { b.cluster.Close() }

// Addresses are those of the brokers, with commas.
func (b *Brokers) Addresses() string { return strings.Join(b.addrs, ",") }

// Read returns the newest value of each point and time in a topic, as a reader of a compacted topic has it.
func (b *Brokers) Read(t testing.TB, topic string) map[string]string {
	t.Helper()
	return ReadTopic(t, topic, b.addrs...)
}

// ReadTopic is Read for the brokers at these addresses.
func ReadTopic(t testing.TB, topic string, brokers ...string) map[string]string {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	found := map[string]string{}
	for quiet := false; !quiet; {
		ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
		fetched := client.PollFetches(ctx)
		stop()
		quiet = fetched.NumRecords() == 0
		fetched.EachRecord(func(r *kgo.Record) {
			var doc struct {
				Point   string
				Time    time.Time
				Value   float64
				Text    string
				Quality string
			}
			if err := json.Unmarshal(r.Value, &doc); err != nil || string(r.Key) != doc.Point {
				t.Errorf("the record %s of %s: %v", r.Value, r.Key, err)
			}
			if !strings.HasPrefix(doc.Quality, "bad") {
				found[Key(doc.Point, doc.Time.UnixMicro())] = Text(doc.Value, doc.Text)
			}
		})
	}
	return found
}

// Peer returns a topic for the suite.
func (b *Brokers) Peer(t testing.TB, topic string, kind destination.Kind) *Peer {
	t.Helper()
	return &Peer{
		Entry: setting.Sink{URL: "kafka://" + b.Addresses(), Into: topic}, Kind: kind, Late: true,
		Kill: b.Kill, Start: func() { b.Start(t) }, Read: func(t testing.TB) map[string]string { return b.Read(t, topic) },
	}
}
