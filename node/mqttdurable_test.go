package node_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/client"
	"voltbus/operation"
	"voltbus/operation/mqtt"
	"voltbus/testing/peers"
)

const mqttEnv = "VOLTBUS_TEST_MQTT"

const mqttNumbers = `
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0, mqtt: 127.0.0.1:0}
mqtt:
  anonymous: true
  templates:
    - {name: n, topic: "n/{who}", device: "n/{who}", format: plain, points: [{name: value, type: int}]}
`

// mqttChild runs a node with a broker until it is killed, and prints where it listens.
func mqttChild(dir string) {
	n, err := open(load(&testing.T{}, dir, mqttNumbers))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println(n.MQTTAddr(false))
	fmt.Println("error", n.Run(context.Background()))
}

// mqttWriters publish without pause.
const mqttWriters = 4

// mqttRound runs a node that is killed while clients publish, and returns what was acknowledged to each.
func mqttRound(t *testing.T, dir string, first int) (acknowledged [mqttWriters][]int, next int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), mqttEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address := strings.TrimSpace(line)
	if err != nil || strings.HasPrefix(address, "error") {
		t.Fatal(address, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var total atomic.Int64
	enough := make(chan struct{})
	var once sync.Once
	most := int64(150 + rand.IntN(150))
	var writers sync.WaitGroup
	for w := range mqttWriters {
		c := connectMQTT(t, address, &paho.Connect{ClientID: fmt.Sprint("w", w), CleanStart: true, KeepAlive: 60})
		writers.Go(func() {
			for n := first; ; n++ {
				r, err := c.Publish(ctx, &paho.Publish{Topic: fmt.Sprint("n/", w), QoS: 1, Payload: []byte(strconv.Itoa(n))})
				if err != nil || r == nil || r.ReasonCode != 0 {
					return
				}
				acknowledged[w] = append(acknowledged[w], n)
				if n == first { // for a client that is away
					_, _ = c.Publish(ctx, &paho.Publish{Topic: fmt.Sprintf("away/%d", w), QoS: 1, Payload: []byte(strconv.Itoa(n))})
				}
				if total.Add(1) >= most {
					once.Do(func() { close(enough) })
				}
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(mqttLimit):
		t.Error("clients do not get their answers")
	}
	_ = cmd.Process.Kill()
	cancel() // a publisher waits for an answer that does not come
	writers.Wait()
	_ = cmd.Wait()
	return acknowledged, first + 1_000_000
}

// A node is killed again and again while clients publish with QoS 1. In the end the history has everything that was
// acknowledged, once, and the ledger adds up.
func TestKilledAtAnyMomentEveryAcknowledgedMessageIsThereOnce(t *testing.T) {
	dir := t.TempDir()
	away := func(r *running) *mqttClient {
		expiry := uint32(3600)
		c := connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "away", KeepAlive: 60, Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry}})
		return c
	}
	r := run(t, load(t, dir, mqttNumbers))
	a := away(r)
	if code := a.subscribe(t, "away/#", 1); code != 1 {
		t.Fatalf("the answer is %#x", code)
	}
	r.halt()
	var all [mqttWriters][]int
	for round, first := 0, 1; round < 3; round++ {
		var some [mqttWriters][]int
		some, first = mqttRound(t, dir, first)
		for w := range some {
			all[w] = append(all[w], some[w]...)
		}
	}
	r = run(t, load(t, dir, mqttNumbers))
	for w := range all {
		path, times := fmt.Sprintf("n/%d/value", w), map[string]int{}
		eventually(t, "all of "+path+" is stored", func() bool {
			clear(times)
			for _, v := range r.values(path) {
				times[v]++
			}
			for _, n := range all[w] {
				if times[strconv.Itoa(n)] == 0 {
					return false
				}
			}
			return true
		})
		for _, n := range all[w] {
			if c := times[strconv.Itoa(n)]; c != 1 {
				t.Errorf("%d of %s is there %d times", n, path, c)
			}
		}
	}
	if o := r.ledger().Origins[0]; o.Missing+o.Repeated != 0 {
		t.Errorf("the ledger says %+v", o)
	}
	a = away(r)
	if !a.ack.SessionPresent {
		t.Error("the session of the client that was away is gone")
	}
	for range 3 * mqttWriters {
		if m := a.next(t); !strings.HasPrefix(m.Topic, "away/") {
			t.Errorf("got %s", m.Topic)
		}
	}
}

func TestRetainedMessagesAndSessionsAreThereAfterARestart(t *testing.T) {
	dir := t.TempDir()
	expiry := uint32(3600)
	persistent := &paho.Connect{ClientID: "p", KeepAlive: 60, Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry}}
	r := run(t, load(t, dir, mqttNumbers))
	p := connectMQTT(t, r.MQTTAddr(false), persistent)
	p.subscribe(t, "q/#", 2)
	p.subscribe(t, "$share/g/s/#", 1)
	if err := p.Disconnect(&paho.Disconnect{}); err != nil {
		t.Fatal(err)
	}
	c := connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "c", CleanStart: true, KeepAlive: 60})
	for _, m := range []*paho.Publish{
		{Topic: "q/1", QoS: 1, Payload: []byte("one")},
		{Topic: "q/2", QoS: 2, Payload: []byte("two")},
		{Topic: "s/1", QoS: 1, Payload: []byte("shared")},
		{Topic: "r/kept", QoS: 1, Retain: true, Payload: []byte("kept")},
		{Topic: "r/gone", QoS: 1, Retain: true, Payload: []byte("x")},
		{Topic: "r/gone", QoS: 1, Retain: true},
	} {
		if _, err := c.Publish(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	r.halt()
	r = run(t, load(t, dir, mqttNumbers))
	p = connectMQTT(t, r.MQTTAddr(false), persistent)
	if !p.ack.SessionPresent {
		t.Error("the session is gone")
	}
	for _, want := range []string{"one", "two", "shared"} {
		if m := p.next(t); string(m.Payload) != want {
			t.Errorf("got %q, want %q", m.Payload, want)
		}
	}
	p.subscribe(t, "r/#", 1)
	if m := p.next(t); m.Topic != "r/kept" || string(m.Payload) != "kept" || !m.Retain {
		t.Errorf("got %+v", m)
	}
	c = connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "c", CleanStart: true, KeepAlive: 60})
	c.publish(t, "q/3", "three", 1)
	if m := p.next(t); string(m.Payload) != "three" {
		t.Errorf("after the retained messages comes %q", m.Payload)
	}
}

func TestADiskThatIsFullRefusesWhatIsAnsweredAndCountsTheRest(t *testing.T) {
	t.Parallel()
	r := run(t, load(t, t.TempDir(), mqttNumbers+"log: {min_free: 1000TiB}\nrecorder: {queue: 1, max_block: 1}\n"))
	c := connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "c", CleanStart: true, KeepAlive: 60})
	eventually(t, "QoS 1 is refused", func() bool { return c.publish(t, "n/a", "1", 1) == 0x97 })
	if code := c.publish(t, "unrecorded", "1", 1); code >= 0x80 {
		t.Errorf("a message that is not recorded is refused: %#x", code)
	}
	eventually(t, "QoS 0 is counted", func() bool {
		c.publish(t, "n/a", "2", 0)
		return r.ledger().Origins[0].Refused > 0
	})
	status, err := client.Do(t.Context(), r.Client, mqtt.Status, operation.None{})
	if err != nil || status.NotRecorded == 0 {
		t.Errorf("the status is %+v, %v", status, err)
	}
}

func TestWhatNoTemplateTakesIsShown(t *testing.T) {
	r := run(t, load(t, t.TempDir(), fleetOfDevices+"    - {name: j, topic: \"t/{device}/x/y\", device: d, format: json, rest: true}\n"))
	c := connectMQTT(t, r.MQTTAddr(false), r.addDevice("one", "thermostat"))
	c.publish(t, "t/one/a/b", `{"v":1,"ts":1772366400}`, 1)
	c.publish(t, "t/one/x/y", `{"v":`, 1)
	var list []string
	eventually(t, "both are shown", func() bool {
		u, err := client.Do(t.Context(), r.Client, mqtt.Unknown, operation.None{})
		list = nil
		for _, x := range u.Topics {
			list = append(list, x.Topic+" "+x.Template+" "+x.Why+" "+x.Payload+" "+x.Proposal)
		}
		return err == nil && len(list) == 2
	})
	both := strings.Join(list, "\n")
	for _, want := range []string{`t/one/x/y j the payload is not JSON`, `t/one/a/b   {"v":1,"ts":1772366400} - name: "t a b"`, `topic: "t/{device}/a/b"`, "time: ts"} {
		if !strings.Contains(both, want) {
			t.Errorf("%q is not in\n%s", want, both)
		}
	}
}

func TestPahoForPythonUsesTheNode(t *testing.T) {
	t.Parallel()
	python := peers.Python(t)
	r := run(t, load(t, t.TempDir(), strings.ReplaceAll(mqttNumbers, "anonymous: true", "anonymous: true\n  queue: 100")))
	host, port, _ := strings.Cut(r.MQTTAddr(false), ":")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "../testing/peers/paho_mqtt_peer.py", host, port).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Log(string(out))
}

// webSocketClient publishes with QoS 1 over a WebSocket, and gets what it subscribed to.
const webSocketClient = `
import queue, sys
import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
got = queue.Queue()
c = mqtt.Client(CallbackAPIVersion.VERSION2, client_id="web", transport="websockets")
c.ws_set_options(path="/mqtt")
c.on_message = lambda _c, _u, m: got.put(m.payload)
c.on_subscribe = lambda *_: got.put(b"subscribed")
c.on_connect = lambda *_: c.subscribe("n/web", 1)
c.connect(sys.argv[1], int(sys.argv[2]))
c.loop_start()
assert got.get(timeout=30) == b"subscribed"
c.publish("n/web", "7", 1).wait_for_publish(30)
assert got.get(timeout=30) == b"7"
c.publish("big", "x" * 70000, 1).wait_for_publish(30)
c.disconnect()
`

func TestPahoForPythonComesByWebSocket(t *testing.T) {
	python := peers.Python(t)
	r := run(t, load(t, t.TempDir(), strings.ReplaceAll(mqttNumbers, "mqtt: 127.0.0.1:0}", "mqtt_websocket: true}")))
	host, port, _ := strings.Cut(strings.TrimPrefix(r.HTTPAddr(), "http://"), ":")
	out, err := exec.CommandContext(t.Context(), python, "-c", webSocketClient, host, port).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	eventually(t, "the value is stored", func() bool { return strings.Join(r.values("n/web/value"), " ") == "7" })
}

func TestAttackAPageOfAnotherSiteOpensNoWebSocket(t *testing.T) {
	r := run(t, load(t, t.TempDir(), strings.ReplaceAll(mqttNumbers, "mqtt: 127.0.0.1:0}", "mqtt_websocket: true}")))
	for origin, want := range map[string]int{"http://evil.example": http.StatusForbidden, "null": http.StatusForbidden, r.HTTPAddr(): http.StatusSwitchingProtocols} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.HTTPAddr()+"/mqtt", nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
			"Sec-WebSocket-Protocol": "mqtt", "Origin": origin,
		} {
			request.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("a page of %s gets %d, want %d", origin, answer.StatusCode, want)
		}
	}
}
