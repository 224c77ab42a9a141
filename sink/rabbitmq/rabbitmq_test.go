package rabbitmq_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/rabbitmq"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(t testing.TB, server *peers.Server) *amqp.Connection {
	t.Helper()
	conn, err := amqp.Dial("amqp://guest:guest@" + server.Addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// read takes what is in a queue, and adds it to what was taken before.
func read(t testing.TB, server *peers.Server, queue string, found map[string]string) map[string]string {
	t.Helper()
	conn := dial(t, server)
	defer conn.Close()
	channel, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, more, err := channel.Get(queue, true)
		if err != nil || !more {
			return found
		}
		var doc struct {
			Point   string
			Time    time.Time
			Value   float64
			Text    string
			Quality string
		}
		if err := json.Unmarshal(m.Body, &doc); err != nil || m.DeliveryMode != amqp.Persistent || m.MessageId == "" {
			t.Errorf("the message %s: %v", m.Body, err)
		}
		if !strings.HasPrefix(doc.Quality, "bad") {
			found[sinktest.Key(doc.Point, doc.Time.UnixMicro())] = sinktest.Text(doc.Value, doc.Text)
		}
	}
}

// peer is a queue that is there.
func peer(t testing.TB, server *peers.Server, queue string) *sinktest.Peer {
	t.Helper()
	peers.RabbitQueue(t, server, queue)
	return unmade(t, server, queue)
}

// unmade is a queue that the destination makes.
func unmade(t testing.TB, server *peers.Server, queue string) *sinktest.Peer {
	t.Helper()
	secret, found := filepath.Join(t.TempDir(), "password"), map[string]string{}
	if err := os.WriteFile(secret, []byte("guest\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &sinktest.Peer{
		Entry: setting.Sink{URL: "amqp://" + server.Addr, User: "guest", PasswordFile: secret, Into: queue}, Kind: rabbitmq.Kind(), Late: true,
		Kill: server.Kill, Start: func() { server.Start(t) },
		Read: func(t testing.TB) map[string]string { return read(t, server, queue, found) },
	}
}

func TestMessagesOfRabbitMQ(t *testing.T) {
	server, n := peers.StartRabbitMQ(t), 0
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		n++
		return peer(t, server, fmt.Sprint("queue-", n))
	})
	t.Run("a wrong password is told in a sentence", func(t *testing.T) {
		p, log := peer(t, server, "closed"), sinktest.NewLog()
		p.Entry.User = "nobody"
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		r.Until(t, "it is told", func(s *destination.State) bool {
			return s.Err != nil && strings.Contains(s.Problem(), `does not accept the user "nobody" or the password`)
		})
	})
	t.Run("a queue that it makes is there after the server was killed, with what it confirmed", func(t *testing.T) {
		p, log := unmade(t, server, "made"), sinktest.NewLog()
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		r.Until(t, "it is sent", func(s *destination.State) bool { return s.Sent == 1 })
		r.Stop()
		server.Kill()
		server.Start(t)
		if got := p.Read(t); got[sinktest.Key("plant/a", sinktest.Noon().UnixMicro()+1000)] != "1.000" {
			t.Errorf("the queue has %v", got)
		}
	})
	t.Run("an exchange gets the point as the routing key", func(t *testing.T) {
		p, log := peer(t, server, "temps"), sinktest.NewLog()
		conn := dial(t, server)
		defer conn.Close()
		channel, err := conn.Channel()
		if err == nil {
			err = channel.QueueBind("temps", "plant.*.temp", "amq.topic", false, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Entry.URL += "/?exchange=amq.topic"
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a/temp", 1, point.FloatOf(1)), sinktest.At("plant/a/flow", 2, point.FloatOf(2)))
		r.Until(t, "both are sent", func(s *destination.State) bool { return s.Sent == 2 })
		if got := p.Read(t); len(got) != 1 || got[sinktest.Key("plant/a/temp", sinktest.Noon().UnixMicro()+1000)] != "1.000" {
			t.Errorf("the queue has %v", got)
		}
	})
}

func BenchmarkCatchUp(b *testing.B) {
	server, n := peers.StartRabbitMQ(b), 0
	sinktest.CatchUp(b, func() *sinktest.Peer {
		n++
		return peer(b, server, fmt.Sprint("queue-", n))
	})
}
