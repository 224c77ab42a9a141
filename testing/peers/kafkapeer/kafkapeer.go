// Package kafkapeer runs a broker that speaks the protocol of Kafka and keeps its topics on disk, in a process of its own that a test can kill. The
// process is the test's own program, started once more.
package kafkapeer

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The environment of the broker's process.
const (
	envAddr = "VOLTBUS_TEST_KAFKA"
	envDir  = "VOLTBUS_TEST_KAFKA_DIR"
	// envTopics are topics that it has from the start, with spaces.
	envTopics = "VOLTBUS_TEST_KAFKA_TOPICS"
)

// Serve is the broker, in its process, and says "ready"; in others it returns at once. TestMain calls it first.
func Serve() {
	addr := os.Getenv(envAddr)
	if addr == "" {
		return
	}
	_, text, _ := net.SplitHostPort(addr)
	port, err := strconv.Atoi(text)
	if err == nil {
		_, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.DataDir(os.Getenv(envDir)), kfake.SyncWrites(), kfake.SeedTopics(1, strings.Fields(os.Getenv(envTopics))...))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "ready")
	select {}
}

// Environment makes the test's own program a broker that listens at an address and keeps its topics in a folder. See peers.StartSelf.
func Environment(addr, dir string) []string {
	return []string{envAddr + "=" + addr, envDir + "=" + filepath.Join(dir, "data")}
}

// Topics makes topics of four partitions.
func Topics(t testing.TB, addr string, names ...string) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := kmsg.NewPtrCreateTopicsRequest()
	for _, name := range names {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 4, 1 //nolint:mnd // as many as a small installation has
		r.Topics = append(r.Topics, topic)
	}
	answer, err := r.RequestWith(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answer.Topics {
		if code := answer.Topics[i].ErrorCode; code != 0 {
			t.Fatalf("topic %s: error %d", answer.Topics[i].Topic, code)
		}
	}
}

// Record is a record of a topic.
type Record struct{ Key, Value string }

// Produce sends records to a topic, and returns when they are safe there.
func Produce(t testing.TB, addr string, topic string, list ...Record) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	records := make([]*kgo.Record, len(list))
	for i, r := range list {
		records[i] = &kgo.Record{Topic: topic, Key: []byte(r.Key), Value: []byte(r.Value)}
	}
	if err := c.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}
