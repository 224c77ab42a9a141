package kafka_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"voltbus/source/kafka"
	"voltbus/source/setting"
	"voltbus/source/sourcetest"
	"voltbus/testing/peers"
	"voltbus/testing/peers/kafkapeer"
)

func TestMain(m *testing.M) {
	kafkapeer.Serve() // in the process of the brokers
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func client(t testing.TB, server *peers.Server, more ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append(more, kgo.SeedBrokers(server.Addr))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func peer(t testing.TB, server *peers.Server, topic string) *sourcetest.Peer {
	t.Helper()
	dead := topic + "-dead"
	kafkapeer.Topics(t, server.Addr, topic, dead)
	return &sourcetest.Peer{
		Entry: setting.Source{URL: "kafka://" + server.Addr, From: topic, Group: topic + "-group"}, Kind: kafka.Open,
		Kill: server.Kill, Start: func() { server.Start(t) }, Dead: dead,
		Send: func(t testing.TB, list ...sourcetest.Message) {
			t.Helper()
			records := make([]kafkapeer.Record, len(list))
			for i, m := range list {
				records[i] = kafkapeer.Record{Key: m.Name, Value: m.Body}
			}
			kafkapeer.Produce(t, server.Addr, topic, records...)
		},
		Letters: func(t testing.TB) (list []string) {
			c := client(t, server, kgo.ConsumeTopics(dead), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
			defer c.Close()
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
			defer stop()
			c.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
				if len(r.Headers) != 4 || r.Headers[0].Key != "voltbus-reason" || len(r.Headers[0].Value) == 0 || string(r.Headers[1].Value) != topic {
					t.Errorf("the headers are %v", r.Headers)
				}
				list = append(list, string(r.Value))
			})
			return list
		},
	}
}

func TestRecordsOfKafka(t *testing.T) {
	server, n := peers.StartSelf(t, kafkapeer.Environment), 0
	sourcetest.Run(t, func(t *testing.T) *sourcetest.Peer {
		n++
		return peer(t, server, fmt.Sprint("topic-", n))
	})
}
