package kafka_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/kafka"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/testing/peers"
	"voltbus/testing/peers/kafkapeer"
)

func TestMain(m *testing.M) {
	kafkapeer.Serve() // in the process of the broker
	os.Exit(m.Run())
}

func TestRecordsOfKafka(t *testing.T) {
	n := 0
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		n++
		topic := fmt.Sprint("topic-", n)
		return sinktest.StartBrokers(t, []string{topic}).Peer(t, topic, kafka.Kind())
	})
	t.Run("a broker in a process of its own", func(t *testing.T) {
		server := peers.StartSelf(t, kafkapeer.Environment)
		sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
			n++
			topic := fmt.Sprint("topic-", n)
			kafkapeer.Topics(t, server.Addr, topic)
			return &sinktest.Peer{
				Entry: setting.Sink{URL: "kafka://" + server.Addr, Into: topic}, Kind: kafka.Kind(), Late: true,
				Kill: server.Kill, Start: func() { server.Start(t) },
				Read: func(t testing.TB) map[string]string { return sinktest.ReadTopic(t, topic, server.Addr) },
			}
		})
	})
	t.Run("a topic that is not there is told, and its readings wait", func(t *testing.T) {
		b, log := sinktest.StartBrokers(t, []string{"other"}), sinktest.NewLog()
		p := b.Peer(t, "missing", kafka.Kind())
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
		return sinktest.StartBrokers(b, []string{topic}).Peer(b, topic, kafka.Kind())
	})
}
