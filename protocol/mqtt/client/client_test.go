package client_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/protocol/mqtt/client"
	"voltbus/protocol/mqtt/packet"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const limit = 30 * time.Second

func dial(t *testing.T, address string, cfg client.Config) *client.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(ctx, conn, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestMessagesOfEachQoSArrive(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	got := make(chan string, 10)
	a := dial(t, broker.Addr, client.Config{ClientID: "a", Message: func(topic string, payload []byte) { got <- topic + " " + string(payload) }})
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := a.Subscribe(ctx, 2, "x/+", "will"); err != nil {
		t.Fatal(err)
	}
	b := dial(t, broker.Addr, client.Config{ClientID: "b", Will: &packet.Will{Topic: []byte("will"), Payload: []byte("gone")}})
	for qos := range 3 {
		if err := b.Publish(ctx, &client.Message{Topic: "x/y", Payload: []byte{byte('0' + qos)}, QoS: packet.QoS(qos)}); err != nil {
			t.Fatal(err)
		}
		if text := <-got; text != "x/y "+string(rune('0'+qos)) {
			t.Errorf("got %q", text)
		}
	}
	if err := a.Ping(ctx); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil { // in order, so that there is no will
		t.Error(err)
	}
	if err := a.Publish(ctx, &client.Message{Topic: "x/z", Payload: []byte("last")}); err != nil {
		t.Error(err)
	}
	if text := <-got; text != "x/z last" {
		t.Errorf("after the end of the other: %q", text)
	}
}

func TestEverybodyWhoWaitsHearsThatTheBrokerIsGone(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	ended := make(chan struct{})
	c := dial(t, broker.Addr, client.Config{Ended: func() { close(ended) }})
	broker.Kill()
	<-ended
	<-c.Lost()
	if err := c.Publish(t.Context(), &client.Message{Topic: "x", QoS: 1}); !errors.Is(err, client.ErrLost) {
		t.Errorf("to publish: %v", err)
	}
	if err := c.Ping(t.Context()); !errors.Is(err, client.ErrLost) {
		t.Errorf("to ping: %v", err)
	}
	if err := c.Subscribe(t.Context(), 1, "x"); !errors.Is(err, client.ErrLost) {
		t.Errorf("to subscribe: %v", err)
	}
}
