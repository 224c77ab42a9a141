package amqp1_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/Azure/go-amqp"
	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/sink/amqp1"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint/amqpclient"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read takes what is at an address, and adds it to what was taken before.
func read(t testing.TB, server *peers.Server, address string, found map[string]string) map[string]string {
	t.Helper()
	conn, err := amqp.Dial(t.Context(), "amqp://"+server.Addr, &amqp.ConnOptions{SASLType: amqp.SASLTypePlain("guest", "guest")})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.NewSession(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.NewReceiver(t.Context(), address, &amqp.ReceiverOptions{Credit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for {
		ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		m, err := r.Receive(ctx, nil)
		stop()
		if errors.Is(err, context.DeadlineExceeded) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Point   string
			Time    time.Time
			Value   float64
			Text    string
			Quality string
		}
		if err := json.Unmarshal(m.GetData(), &doc); err != nil || m.Header == nil || !m.Header.Durable || m.Properties.MessageID == nil {
			t.Errorf("the message %s: %v", m.GetData(), err)
		}
		if !strings.HasPrefix(doc.Quality, "bad") {
			found[sinktest.Key(doc.Point, doc.Time.UnixMicro())] = sinktest.Text(doc.Value, doc.Text)
		}
		if err := r.AcceptMessage(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

func peer(t testing.TB, server *peers.Server, address string) *sinktest.Peer {
	t.Helper()
	peers.RabbitQueue(t, server, strings.TrimPrefix(address, "/queue/"))
	secret, found := filepath.Join(t.TempDir(), "password"), map[string]string{}
	if err := os.WriteFile(secret, []byte("guest\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &sinktest.Peer{
		Entry: setting.Sink{URL: "amqp://" + server.Addr, User: "guest", PasswordFile: secret, Into: address}, Kind: amqp1.Kind(), Late: true,
		Kill: server.Kill, Start: func() { server.Start(t) },
		Read: func(t testing.TB) map[string]string { return read(t, server, "/amq"+address, found) },
	}
}

func TestMessagesOfAMQP(t *testing.T) {
	server, n := peers.StartRabbitMQ(t, "rabbitmq_amqp1_0"), 0
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		n++
		return peer(t, server, fmt.Sprint("/queue/readings-", n))
	})
	for want, change := range map[string]func(*setting.Sink){
		`there is no address "/exchange/missing/key"`:       func(s *setting.Sink) { s.Into = "/exchange/missing/key" },
		`does not accept the user "nobody" or the password`: func(s *setting.Sink) { s.User = "nobody" },
	} {
		t.Run("it is told: "+want, func(t *testing.T) {
			p, log := peer(t, server, "/queue/closed"), sinktest.NewLog()
			change(&p.Entry)
			r := sinktest.Open(t, t.TempDir(), log, nil, p)
			log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
			r.Until(t, "it is told", func(s *destination.State) bool {
				return s.Err != nil && strings.Contains(s.Problem(), want) && s.Waiting == 1
			})
		})
	}
}

func TestAnOutcomeDecidesWhetherAReadingIsSentRefusedOrSentAgain(t *testing.T) {
	for _, c := range []struct {
		outcome amqp.DeliveryState
		want    amqpclient.Verdict
	}{
		{&amqp.StateAccepted{}, amqpclient.Accepted},
		{&amqp.StateReleased{}, amqpclient.Again},
		{&amqp.StateRejected{}, amqpclient.Refused},
		{&amqp.StateRejected{Error: &amqp.Error{Condition: "amqp:not-allowed", Description: "too large"}}, amqpclient.Refused},
		{&amqp.StateModified{DeliveryFailed: true}, amqpclient.Again},
		{&amqp.StateModified{UndeliverableHere: true}, amqpclient.Refused},
	} {
		if got, reason := amqpclient.Judge(c.outcome); got != c.want || (reason == "") != (got == amqpclient.Accepted) {
			t.Errorf("%#v is %d: %q", c.outcome, got, reason)
		}
	}
}

func BenchmarkCatchUp(b *testing.B) {
	server, n := peers.StartRabbitMQ(b, "rabbitmq_amqp1_0"), 0
	sinktest.CatchUp(b, func() *sinktest.Peer {
		n++
		return peer(b, server, fmt.Sprint("/queue/readings-", n))
	})
}
