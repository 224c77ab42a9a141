package kafka_test

import (
	"fmt"
	"strings"
	"testing"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/kafka"
	"voltbus/sink/sinktest"
)

func TestRecordsOfKafka(t *testing.T) {
	n := 0
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		n++
		topic := fmt.Sprint("topic-", n)
		return sinktest.StartBrokers(t, []string{topic}).Peer(t, topic, kafka.Kind())
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
