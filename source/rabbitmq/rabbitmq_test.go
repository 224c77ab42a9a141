package rabbitmq_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/goleak"

	"voltbus/source"
	"voltbus/source/rabbitmq"
	"voltbus/source/setting"
	"voltbus/source/sourcetest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// channel is a channel of its own connection, until the test ends.
func channel(t testing.TB, server *peers.Server) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial("amqp://guest:guest@" + server.Addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func peer(t testing.TB, server *peers.Server, name string) *sourcetest.Peer {
	t.Helper()
	secret, dead := filepath.Join(t.TempDir(), "password"), name+"-dead"
	if err := os.WriteFile(secret, []byte("guest\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := channel(t, server)
	peers.RabbitQueue(t, server, name)
	peers.RabbitQueue(t, server, dead)
	if err := c.ExchangeDeclare(dead, "fanout", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.QueueBind(dead, "", dead, false, nil); err != nil {
		t.Fatal(err)
	}
	return &sourcetest.Peer{
		Entry: setting.Source{URL: "amqp://" + server.Addr, User: "guest", PasswordFile: secret, From: name}, Kind: rabbitmq.Open,
		Kill: server.Kill, Start: func() { server.Start(t) }, Dead: dead,
		Send: func(t testing.TB, list ...sourcetest.Message) {
			t.Helper()
			c := channel(t, server)
			if err := c.Confirm(false); err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				sent, err := c.PublishWithDeferredConfirmWithContext(t.Context(), "", name, true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(m.Body)})
				if err != nil || !sent.Wait() {
					t.Fatal(err)
				}
			}
		},
		Letters: func(t testing.TB) (list []string) {
			t.Helper()
			c := channel(t, server)
			for {
				m, more, err := c.Get(dead, true)
				if err != nil || !more {
					return list
				}
				if m.Headers["voltbus-reason"] == "" || m.Headers["voltbus-queue"] != name {
					t.Errorf("the headers are %v", m.Headers)
				}
				list = append(list, string(m.Body))
			}
		},
	}
}

func TestMessagesOfRabbitMQ(t *testing.T) {
	server, n := peers.StartRabbitMQ(t), 0
	sourcetest.Run(t, func(t *testing.T) *sourcetest.Peer {
		n++
		return peer(t, server, fmt.Sprint("queue-", n))
	})
	t.Run("a queue that is not there, and a wrong password, are told in a sentence", func(t *testing.T) {
		for want, change := range map[string]func(*setting.Source){
			"no queue 'missing'": func(s *setting.Source) { s.From = "missing" },
			`does not accept the user "nobody" or the password`: func(s *setting.Source) { s.User = "nobody" },
		} {
			p := peer(t, server, "wrong")
			change(&p.Entry)
			r := sourcetest.Open(t, t.TempDir(), sourcetest.NewLog(), p)
			r.Until(t, "it is told", func(s *source.State) bool { return s.Err != nil && strings.Contains(s.Problem(), want) })
		}
	})
}
