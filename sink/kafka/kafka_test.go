package kafka_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/kafka"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
)

// brokers are three brokers that speak the protocol of Kafka, in this process.
type brokers struct {
	*kfake.Cluster

	topics []string
}

func start(t testing.TB, topics ...string) *brokers {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(4, topics...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &brokers{c, topics}
}

// read returns the newest value of each point and time, as a reader of a compacted topic has it.
func (b *brokers) read(t testing.TB, topic string) map[string]string {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
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
				found[sinktest.Key(doc.Point, doc.Time.UnixMicro())] = sinktest.Text(doc.Value, doc.Text)
			}
		})
	}
	return found
}

func (b *brokers) peer(t testing.TB, topic string) *sinktest.Peer {
	t.Helper()
	return &sinktest.Peer{
		Entry: setting.Sink{URL: "kafka://" + strings.Join(b.ListenAddrs(), ","), Into: topic}, Kind: kafka.Kind(), Late: true,
		Read: func(t testing.TB) map[string]string { return b.read(t, topic) },
	}
}

func TestRecordsOfKafka(t *testing.T) {
	n := 0
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		n++
		topic := fmt.Sprint("topic-", n)
		return start(t, topic).peer(t, topic)
	})
	t.Run("a topic that is not there is told, and its readings wait", func(t *testing.T) {
		b, log := start(t, "other"), sinktest.NewLog()
		p := b.peer(t, "missing")
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		r.Until(t, "it is told", func(s *destination.State) bool {
			return s.Err != nil && strings.Contains(s.Problem(), `there is no topic "missing"; make it`) && s.Waiting == 1
		})
	})
}

func BenchmarkCatchUp(b *testing.B) {
	n := 0
	sinktest.CatchUp(b, func() *sinktest.Peer {
		n++
		topic := fmt.Sprint("topic-", n)
		return start(b, topic).peer(b, topic)
	})
}
