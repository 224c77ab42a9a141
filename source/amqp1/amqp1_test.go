package amqp1_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/Azure/go-amqp"
	"go.uber.org/goleak"

	"voltbus/source"
	"voltbus/source/amqp1"
	"voltbus/source/setting"
	"voltbus/source/sourcetest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session is a session of its own connection, until the test ends.
func session(t testing.TB, server *peers.Server) *amqp.Session {
	t.Helper()
	conn, err := amqp.Dial(t.Context(), "amqp://"+server.Addr, &amqp.ConnOptions{SASLType: amqp.SASLTypePlain("guest", "guest")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s, err := conn.NewSession(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// send sends messages to an address, and returns when the broker has accepted them.
func send(t testing.TB, server *peers.Server, address string, list ...sourcetest.Message) {
	t.Helper()
	s, err := session(t, server).NewSender(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		out := amqp.NewMessage([]byte(m.Body))
		out.Header = &amqp.MessageHeader{Durable: true}
		if err := s.Send(t.Context(), out, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// letters takes what is at an address.
func letters(t testing.TB, server *peers.Server, address string) (list []*amqp.Message) {
	t.Helper()
	r, err := session(t, server).NewReceiver(t.Context(), address, &amqp.ReceiverOptions{Credit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		m, err := r.Receive(ctx, nil)
		stop()
		if errors.Is(err, context.DeadlineExceeded) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
		if err := r.AcceptMessage(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

func peer(t testing.TB, server *peers.Server, name string) *sourcetest.Peer {
	t.Helper()
	secret, address, dead := filepath.Join(t.TempDir(), "password"), "/amq/queue/"+name, "/queue/"+name+"-dead"
	if err := os.WriteFile(secret, []byte("guest\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	peers.RabbitQueue(t, server, name)
	peers.RabbitQueue(t, server, name+"-dead")
	return &sourcetest.Peer{
		Entry: setting.Source{URL: "amqp://" + server.Addr, User: "guest", PasswordFile: secret, From: address}, Kind: amqp1.Open,
		Kill: server.Kill, Start: func() { server.Start(t) }, Dead: dead, Nowhere: "/exchange/nowhere/key",
		Send: func(t testing.TB, list ...sourcetest.Message) { send(t, server, address, list...) },
		Letters: func(t testing.TB) (list []string) {
			for _, m := range letters(t, server, "/amq"+dead) {
				if m.ApplicationProperties["voltbus-reason"] == "" || m.ApplicationProperties["voltbus-address"] != address {
					t.Errorf("the properties are %v", m.ApplicationProperties)
				}
				list = append(list, string(m.GetData()))
			}
			return list
		},
	}
}

func TestMessagesOfAMQP(t *testing.T) {
	server, n := peers.StartRabbitMQ(t, "rabbitmq_amqp1_0"), 0
	sourcetest.Run(t, func(t *testing.T) *sourcetest.Peer {
		n++
		return peer(t, server, fmt.Sprint("queue-", n))
	})
	t.Run("an address that is not there, and a wrong password, are told in a sentence", func(t *testing.T) {
		for want, change := range map[string]func(*setting.Source){
			`there is no address "/amq/queue/missing"`:          func(s *setting.Source) { s.From = "/amq/queue/missing" },
			`does not accept the user "nobody" or the password`: func(s *setting.Source) { s.User = "nobody" },
		} {
			p := peer(t, server, "wrong")
			change(&p.Entry)
			r := sourcetest.Open(t, t.TempDir(), sourcetest.NewLog(), p)
			r.Until(t, "it is told", func(s *source.State) bool { return s.Err != nil && strings.Contains(s.Problem(), want) })
		}
	})
}
