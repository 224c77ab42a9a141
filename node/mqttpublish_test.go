package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/protocol/mqtt/client"
	"voltbus/protocol/sparkplug"
	"voltbus/testing/peers"
)

func publishing(address, format string) string {
	return listenAnywhere + fmt.Sprintf(`
mqtt:
  publish:
    - {name: cloud, address: "%s", points: ["plant/**"], %s}
`, address, format)
}

// listener is a client of a broker that gathers messages.
type brokerListener struct {
	*client.Conn
	messages chan [2]string
}

func listenAt(t testing.TB, address, filter string) *brokerListener {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	l := &brokerListener{messages: make(chan [2]string, 100_000)}
	ctx, cancel := context.WithTimeout(t.Context(), mqttLimit)
	defer cancel()
	l.Conn, err = client.New(ctx, conn, client.Config{Message: func(topic string, payload []byte) { l.messages <- [2]string{topic, string(payload)} }})
	if err == nil {
		err = l.Subscribe(ctx, 1, filter)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func (l *brokerListener) next(t testing.TB) (topic, payload string) {
	t.Helper()
	select {
	case m := <-l.messages:
		return m[0], m[1]
	case <-time.After(mqttLimit):
		t.Fatal("no message came")
		return "", ""
	}
}

func publishedNumbers(from, n int) []point.Sample {
	list := make([]point.Sample, n)
	for i := range list {
		list[i] = point.Sample{Point: "plant/n", Time: time.Now().UTC().Truncate(time.Microsecond), Value: point.IntOf(int64(from + i))}
	}
	return list
}

// A broker of another project is killed and started again while samples are recorded: it gets all of them, in order.
func TestABrokerThatWasAwayGetsEverythingThatWasRecordedMeanwhile(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	r := run(t, load(t, t.TempDir(), publishing(broker.Addr, `topic: "out/{path}"`)))
	l := listenAt(t, broker.Addr, "out/#")
	record := func(samples ...point.Sample) {
		t.Helper()
		for i := range samples {
			if err := r.Record(wait(t), samples[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	record(point.Sample{Point: "other/x", Time: time.Now(), Value: point.IntOf(9)}) // which is not published
	record(publishedNumbers(1, 3)...)
	for want := 1; want <= 3; want++ {
		topic, payload := l.next(t)
		var got struct {
			Point, Quality string
			Value          int
		}
		if err := json.Unmarshal([]byte(payload), &got); err != nil || topic != "out/plant/n" || got.Point != "plant/n" || got.Value != want || got.Quality != "good" {
			t.Errorf("got %s %s, %v", topic, payload, err)
		}
	}
	broker.Kill()
	record(publishedNumbers(4, 200)...)
	eventually(t, "the node says that the broker is away", func() bool {
		for _, c := range r.Node.Health(context.Background()).Concerns {
			if strings.Contains(c.Sentence, `MQTT broker "cloud"`) {
				return true
			}
		}
		return false
	})
	broker.Start(t)
	l = listenAt(t, broker.Addr, "out/#")
	seen := map[int]int{}
	for len(seen) < 200 {
		var got struct{ Value int }
		if _, payload := l.next(t); json.Unmarshal([]byte(payload), &got) != nil {
			t.Fatal(payload)
		}
		if got.Value > 3 {
			seen[got.Value]++
		}
	}
	for n := 4; n < 204; n++ {
		if seen[n] != 1 {
			t.Errorf("%d came %d times", n, seen[n])
		}
	}
}

const mqttPublishEnv = "VOLTBUS_TEST_MQTT_PUBLISH"

// mqttPublishChild runs a node that records numbers until it is killed, and prints those that are on disk.
func mqttPublishChild(arguments string) {
	dir, address, _ := strings.Cut(arguments, "|")
	n, err := open(load(&testing.T{}, dir, publishing(address, "format: plain")))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	go func() { fmt.Println("error", n.Run(context.Background())) }()
	for i := 1; ; i++ {
		if err := n.Record(context.Background(), publishedNumbers(i, 1)); err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println(i)
	}
}

func TestAKilledNodePublishesEverythingThatWasOnDisk(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	l := listenAt(t, broker.Addr, "voltbus/#")
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), mqttPublishEnv+"="+dir+"|"+broker.Addr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	last := 0
	for lines.Scan() && last < 300 {
		if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
			t.Fatal(lines.Text())
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	run(t, load(t, dir, publishing(broker.Addr, "format: plain")))
	seen := map[string]bool{}
	for len(seen) < last {
		topic, payload := l.next(t)
		if !strings.HasSuffix(topic, "/plant/n") {
			t.Fatal(topic)
		}
		seen[payload] = true
	}
	for n := 1; n <= last; n++ {
		if !seen[fmt.Sprint(n)] {
			t.Errorf("%d was on disk and did not come", n)
		}
	}
}

func TestANodeIsAnEdgeNodeOfSparkplug(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	l := listenAt(t, broker.Addr, "spBv1.0/#")
	r := run(t, load(t, t.TempDir(), publishing(broker.Addr, "format: sparkplug, group: site")))
	var host sparkplug.Session
	got := map[string]any{}
	follow := func(what string, until func() bool) {
		t.Helper()
		for !until() {
			topic, payload := l.next(t)
			parsed, err := sparkplug.ParseTopic(topic)
			if err != nil || parsed.Group != "site" {
				t.Fatal(topic, err)
			}
			if parsed.Type == sparkplug.NCMD {
				continue
			}
			err = host.Receive(parsed, []byte(payload), func(m *sparkplug.Reading) { got[m.Name] = m.Value })
			if err != nil {
				t.Fatalf("%s: %s: %v", what, topic, err)
			}
		}
	}
	if err := r.Record(wait(t), publishedNumbers(7, 1)); err != nil {
		t.Fatal(err)
	}
	follow("the first value", func() bool { return got["plant/n"] == 7.0 && host.Online() })
	if err := r.Record(wait(t), []point.Sample{{Point: "plant/on", Time: time.Now(), Value: point.BoolOf(true)}}); err != nil {
		t.Fatal(err)
	}
	follow("a point that is new", func() bool { return got["plant/on"] == true })
	ask, err := sparkplug.Command(time.Now(), sparkplug.Rebirth, sparkplug.Boolean, true)
	if err != nil {
		t.Fatal(err)
	}
	to := sparkplug.RebirthTopic("site", r.Config().Node.Name).String()
	if err := l.Publish(wait(t), &client.Message{Topic: to, Payload: ask, QoS: 1}); err != nil {
		t.Fatal(err)
	}
	clear(got)
	if err := r.Record(wait(t), publishedNumbers(8, 1)); err != nil {
		t.Fatal(err)
	}
	follow("the birth that was asked for", func() bool { return got["plant/on"] == true && got["plant/n"] == 8.0 })
	r.halt()
	follow("the end", func() bool { return !host.Online() })
}
