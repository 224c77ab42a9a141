package node_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"github.com/eclipse/paho.golang/paho/session/state"

	"voltbus/api/client"
	"voltbus/operation/mqtt"
)

// writer publishes numbers with QoS 2 in one session, from replica to replica.
type writer struct {
	state *state.State
	next  int
}

// write publishes at a replica until its connection ends or it has written up to a number. What had no answer is sent again when
// it connects anew.
func (w *writer) write(ctx context.Context, address string, until int) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	c := paho.NewClient(paho.ClientConfig{Conn: packets.NewThreadSafeConn(conn), Session: w.state})
	expiry := uint32(3600)
	one, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	if _, err := c.Connect(one, &paho.Connect{ClientID: "writer", KeepAlive: 60, Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry}}); err != nil {
		return err
	}
	for w.next < until {
		how := paho.PublishOptions{Method: paho.PublishMethod_AsyncSend}
		if w.next == until-1 { // when the last one is answered, all are
			how.Method = paho.PublishMethod_Blocking
		}
		_, err := c.PublishWithOptions(ctx, &paho.Publish{Topic: "twice/a", QoS: 2, Payload: []byte(strconv.Itoa(w.next))}, how)
		if err == nil || how.Method == paho.PublishMethod_Blocking || errors.Is(err, paho.ErrNetworkErrorAfterStored) {
			w.next++
		}
		if err != nil {
			return err
		}
	}
	return c.Disconnect(&paho.Disconnect{})
}

// A replica is killed. Its sessions go on at the others with everything that waits, its clients' wills are sent once, and a message with
// QoS 2 on its way comes once.
func TestReplicaKilledLosesNoSession(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.start(t, s.names...)
	s.takesClients(t)
	away := s.eventuallyAt(t, "r1", "away")
	for filter, qos := range map[string]byte{"waits/1": 1, "waits/2": 2} {
		if code := away.subscribe(t, filter, qos); code != qos {
			t.Fatalf("the answer is %#x", code)
		}
	}
	away.leave()
	pub := s.at(t, "r2", "pub", 0)
	for i := range 10 {
		_ = pub.publish(t, fmt.Sprint("waits/", 1+i%2), strconv.Itoa(i), 2)
	}
	var watchers []*mqttClient
	for _, name := range []string{"r2", "r3"} {
		w := s.at(t, name, "watcher-"+name, 0)
		_ = w.subscribe(t, "will/#", 2)
		_ = w.subscribe(t, "twice/#", 2)
		watchers = append(watchers, w)
	}
	expiry, delay := uint32(3600), uint32(1)
	connectMQTT(t, s.processes["r1"].mqtt, &paho.Connect{
		ClientID: "testator", CleanStart: true, KeepAlive: 60, Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry},
		WillMessage: &paho.WillMessage{Topic: "will/a", Payload: []byte("gone"), QoS: 2}, WillProperties: &paho.WillProperties{WillDelayInterval: &delay},
	})
	ctx, stop := context.WithTimeout(t.Context(), 3*mqttLimit)
	defer stop()
	w := &writer{state: state.NewInMemory()}
	if err := w.write(ctx, s.processes["r1"].mqtt, 50); err != nil {
		t.Fatal(err)
	}
	writing := make(chan error, 1)
	go func() { writing <- w.write(ctx, s.processes["r1"].mqtt, 1_000_000) }()
	read := make([][]string, len(watchers))
	for i, one := range watchers {
		for len(read[i]) < 100 {
			read[i] = append(read[i], string(one.next(t).Payload))
		}
	}
	s.kill("r1")
	if err := <-writing; err == nil {
		t.Error("the writer at the replica that was killed goes on")
	}
	back := s.eventuallyAt(t, "r3", "away")
	if !back.ack.SessionPresent {
		t.Error("the session is gone")
	}
	if got := back.payloads(t, 10); !slices.Equal(got, sent(0, 10)) {
		t.Errorf("there came %q", got)
	}
	last := w.next + 20
	for {
		err := w.write(ctx, s.processes["r2"].mqtt, last)
		if err == nil {
			break
		}
		if t.Logf("the writer goes on at r2: %v", err); ctx.Err() != nil {
			t.Fatal("it does not")
		}
		last = max(last, w.next+1)
	}
	for i, one := range watchers {
		count := map[string]int{}
		for _, p := range read[i] {
			count[p]++
		}
		for count["gone"] == 0 || len(count) < last+1 {
			count[string(one.next(t).Payload)]++
		}
		_ = pub.publish(t, fmt.Sprint("twice/end", i), "end", 2)
		for p := ""; p != "end"; {
			p = string(one.next(t).Payload)
			count[p]++
		}
		for p, n := range count {
			if n != 1 && p != "end" {
				t.Errorf("watcher %d got %q %d times", i, p, n)
			}
		}
	}
	s.start(t, "r1")
	again := s.at(t, "r1", "away", 3600)
	if !again.ack.SessionPresent {
		t.Error("the session does not come back to the replica that was killed")
	}
	_ = pub.publish(t, "waits/2", "last", 2)
	for string(again.next(t).Payload) != "last" {
	}
}

// An account that is made at one replica is good at all, and its end ends connections at all.
func TestReplicasShareAccounts(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.start(t, s.names...)
	made, err := client.Do(t.Context(), s.processes["r1"].Client, mqtt.Add, mqtt.NewDevice{Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	login := func(replica, secret string) (*mqttClient, error) {
		return dialMQTT(t, s.processes[replica].mqtt, &paho.Connect{
			ClientID: "c", CleanStart: true, KeepAlive: 60, Username: "one", UsernameFlag: true, Password: []byte(secret), PasswordFlag: true,
		})
	}
	var c *mqttClient
	eventually(t, "it is let in at r2", func() bool {
		c, err = login("r2", made.Secret)
		return err == nil
	})
	rotated := made
	eventually(t, "it gets another secret at r3", func() bool {
		rotated, err = client.Do(t.Context(), s.processes["r3"].Client, mqtt.Rotate, mqtt.Device{Device: "one"})
		return err == nil
	})
	c.gone(t)
	if _, err := login("r2", made.Secret); err == nil {
		t.Error("the old secret is good at r2")
	}
	eventually(t, "the new secret is good at r2", func() bool {
		c, err = login("r2", rotated.Secret)
		return err == nil
	})
	if _, err := client.Do(t.Context(), s.processes["r1"].Client, mqtt.Remove, mqtt.Device{Device: "one"}); err != nil {
		t.Fatal(err)
	}
	c.gone(t)
	s.kill("r3")
	s.start(t, "r3")
	if _, err := login("r3", rotated.Secret); err == nil {
		t.Error("a device that was removed is let in after a restart")
	}
}

// A replica is stopped half-way. Its clients go on at the others, and when it goes on, what it thinks to have does not count: its
// connections are closed, and it is one broker with the others again.
func TestReplicaStoppedHalfWayGivesUpWhatOthersTookOver(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.start(t, s.names...)
	lost := s.at(t, "r1", "roamer", 3600)
	_ = lost.subscribe(t, "roam/#", 1)
	pub := s.at(t, "r2", "pub", 0)
	_ = pub.publish(t, "roam/a", "1", 1)
	if got := string(lost.next(t).Payload); got != "1" {
		t.Fatalf("%q came", got)
	}
	if err := s.processes["r1"].cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c := s.eventuallyAt(t, "r2", "roamer")
	if !c.ack.SessionPresent {
		t.Error("the session does not go on at r2")
	}
	_ = pub.publish(t, "roam/a", "2", 1)
	for string(c.next(t).Payload) != "2" {
	}
	if err := s.processes["r1"].cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	lost.gone(t)
	var sub *mqttClient
	eventually(t, "r1 lets clients in, and keeps them", func() bool { // it drops those who come before it has noticed what it missed
		var err error
		if sub, err = dialMQTT(t, s.processes["r1"].mqtt, &paho.Connect{ClientID: "y", CleanStart: true, KeepAlive: 60}); err != nil {
			return false
		}
		ctx, cancel := context.WithTimeout(t.Context(), answerWait)
		defer cancel()
		_, err = sub.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: "roam/#", QoS: 1}}})
		return err == nil
	})
	_ = pub.publish(t, "roam/a", "3", 1)
	for m := sub.next(t); string(m.Payload) != "3"; m = sub.next(t) { // r1 may still be reading what it missed
	}
}
