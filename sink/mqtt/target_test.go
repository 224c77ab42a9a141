package mqtt_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/broker/setting"
	"voltbus/point"
	"voltbus/protocol/mqtt/client"
	"voltbus/sink/mqtt"
	"voltbus/testing/peers"
	"voltbus/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is how long anything may take.
const limit = 30 * time.Second

// memoryLog is a log in memory.
type memoryLog struct {
	mu      sync.Mutex
	entries [][]byte
	grown   chan struct{}
}

func newLog() *memoryLog { return &memoryLog{grown: make(chan struct{})} }

func (*memoryLog) ID() string { return "log-1" }

func (l *memoryLog) Bounds(context.Context) (first, last uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 1, uint64(len(l.entries)), nil
}

func (l *memoryLog) Read(ctx context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for {
		l.mu.Lock()
		entries, grown := l.entries, l.grown
		l.mu.Unlock()
		for ; from <= uint64(len(entries)); from++ {
			if err := deliver(from, entries[from-1]); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
		}
	}
}

// add appends a block with samples.
func (l *memoryLog) add(t testing.TB, samples ...point.Sample) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &point.Block{Origin: "home", Sequence: uint64(len(l.entries) + 1), Before: uint64(len(l.entries)), Created: noon()}
	for i := range samples {
		b.Points = append(b.Points, samples[i].Point)
		b.Append(uint32(i), &samples[i])
	}
	var e wire.Encoder
	data, err := e.AppendBlock(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	l.entries = append(l.entries, data)
	close(l.grown)
	l.grown = make(chan struct{})
}

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func reading(path string, v point.Value) point.Sample {
	return point.Sample{Point: point.Path(path), Time: noon(), Value: v}
}

// open opens the sink of an entry of mqtt.publish.
func open(dir string, log *memoryLog, p setting.Publish) (*mqtt.Publishers, error) {
	p.Name = "cloud"
	return mqtt.Open(context.Background(), mqtt.Config{
		Publish: []setting.Publish{p}, Dir: dir, Node: "home", Blocks: log, Unit: func(point.Path) string { return "degC" },
		Now: noon, Log: slog.New(slog.DiscardHandler),
	})
}

// run runs the sink until the function that it returns is called.
func run(t testing.TB, dir string, log *memoryLog, p setting.Publish) (publishers *mqtt.Publishers, stop func()) {
	t.Helper()
	publishers, err := open(dir, log, p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- publishers.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return publishers, stop
}

// subscriber is a client that gathers what the broker has.
type subscriber struct {
	messages chan string
	conn     *client.Conn
}

func subscribe(t testing.TB, address, filter string) *subscriber {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &subscriber{messages: make(chan string, 1000)}
	s.conn, err = client.New(t.Context(), conn, client.Config{Message: func(topic string, payload []byte) { s.messages <- topic + " " + string(payload) }})
	if err == nil {
		err = s.conn.Subscribe(t.Context(), 1, filter)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close() })
	return s
}

func (s *subscriber) next(t testing.TB) string {
	t.Helper()
	select {
	case m := <-s.messages:
		return m
	case <-time.After(limit):
		t.Fatal("no message came")
		return ""
	}
}

func TestSamplesThatAreWantedAreMessagesOfTheFormat(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	bad := reading("plant/b", point.Value{})
	bad.Quality = point.BadSensor
	for _, c := range []struct {
		name    string
		publish setting.Publish
		want    []string
	}{
		{"JSON at the usual topic", setting.Publish{}, []string{
			`voltbus/home/plant/a {"point":"plant/a","time":"2026-03-01T12:00:00Z","value":21.5,"quality":"good"}`,
			`voltbus/home/plant/b {"point":"plant/b","time":"2026-03-01T12:00:00Z","value":null,"quality":"bad(sensor)"}`,
			`voltbus/home/plant/x%23y {"point":"plant/x#y","time":"2026-03-01T12:00:00Z","value":"on","quality":"good"}`,
		}},
		{"plain, where a bad value has no payload", setting.Publish{Format: "plain", Topic: "p/{path}"}, []string{
			"p/plant/a 21.5", "p/plant/b ", "p/plant/x%23y on",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := newLog()
			s := subscribe(t, broker.Addr, "#")
			c.publish.Address, c.publish.Points = broker.Addr, []string{"plant/**"}
			_, stop := run(t, t.TempDir(), log, c.publish)
			log.add(t, reading("plant/a", point.FloatOf(21.5)), reading("other/a", point.FloatOf(1)), bad, reading("plant/x#y", point.TextOf("on")))
			for _, want := range c.want {
				if got := s.next(t); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			stop()
		})
	}
}

func TestThePositionFollowsTheAcknowledgement(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	dir, log := t.TempDir(), newLog()
	log.add(t, reading("plant/n", point.IntOf(1))) // before the broker was configured
	entry := setting.Publish{Address: broker.Addr, Points: []string{"plant/**"}, Format: "plain"}
	s := subscribe(t, broker.Addr, "#")
	_, stop := run(t, dir, log, entry)
	log.add(t, reading("plant/n", point.IntOf(2)))
	if got := s.next(t); !strings.HasSuffix(got, " 2") {
		t.Errorf("first came %q; what was recorded before the broker was configured does not come", got)
	}
	stop()
	log.add(t, reading("plant/n", point.IntOf(3))) // while nobody publishes
	_, stop = run(t, dir, log, entry)
	if got := s.next(t); !strings.HasSuffix(got, " 3") {
		t.Errorf("after a restart came %q", got)
	}
	eventually(t, "the position is behind what was acknowledged", func() bool {
		data, err := os.ReadFile(filepath.Join(dir, "mqtt-publish-cloud.json"))
		return err == nil && string(data) == `{"log":"log-1","sequence":3}`
	})
	stop()
}

// eventually waits until something holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(limit); !holds(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("not so in time: " + what)
		}
	}
}

func TestWhatKeepsABrokerFromItsMessagesIsSaid(t *testing.T) {
	port := peers.FreePort(t)
	broker := peers.StartMosquitto(t, nil, nil)
	missing := filepath.Join(t.TempDir(), "password")
	for _, c := range []struct {
		name    string
		publish setting.Publish
		want    string
	}{
		{"nobody listens", setting.Publish{Address: "127.0.0.1:" + port}, "refused"},
		{"the password cannot be read", setting.Publish{Address: broker.Addr, User: "u", PasswordFile: missing}, missing},
		{"the authority cannot be read", setting.Publish{Address: broker.Addr, TLS: true, CA: missing}, missing},
		{"the broker speaks no TLS", setting.Publish{Address: broker.Addr, TLS: true}, broker.Addr},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := newLog()
			c.publish.Points = []string{"**"}
			publishers, stop := run(t, t.TempDir(), log, c.publish)
			log.add(t, reading("plant/n", point.IntOf(1)))
			problems := await(t, publishers)
			stop()
			if !strings.Contains(problems, c.want) || !strings.Contains(problems, `"cloud"`) || !strings.HasSuffix(problems, "1 blocks wait.") {
				t.Errorf("the problem is %q", problems)
			}
		})
	}
}

// await returns what keeps the broker from its messages, as soon as something does.
func await(t testing.TB, p *mqtt.Publishers) (problem string) {
	t.Helper()
	eventually(t, "a problem is said", func() bool {
		list := p.Problems(t.Context())
		if len(list) > 0 {
			problem = list[0]
		}
		return len(list) > 0
	})
	return problem
}

func TestADamagedPositionIsSaidAndNotGuessed(t *testing.T) {
	dir, log := t.TempDir(), newLog()
	if err := os.WriteFile(filepath.Join(dir, "mqtt-publish-cloud.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	publishers, stop := run(t, dir, log, setting.Publish{Address: "127.0.0.1:1", Points: []string{"**"}})
	log.add(t, reading("plant/n", point.IntOf(1)))
	problem := await(t, publishers)
	stop()
	if !strings.Contains(problem, "remove the file") {
		t.Errorf("the problem is %q", problem)
	}
}

func TestAnEdgeNodeGivesItsBirthAnewForANewPoint(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	log := newLog()
	s := subscribe(t, broker.Addr, "spBv1.0/#")
	_, stop := run(t, t.TempDir(), log, setting.Publish{Address: broker.Addr, Points: []string{"**"}, Format: setting.SparkplugB, Group: "g"})
	types := func(n int) string {
		var got []string
		for range n {
			topic, _, _ := strings.Cut(s.next(t), " ")
			got = append(got, strings.Split(topic, "/")[2])
		}
		return fmt.Sprint(got)
	}
	log.add(t, reading("plant/a", point.FloatOf(1)))
	if got := types(2); got != "[NBIRTH NDATA]" {
		t.Errorf("the first block gives %s", got)
	}
	log.add(t, reading("plant/a", point.FloatOf(2)))
	if got := types(1); got != "[NDATA]" {
		t.Errorf("a known point gives %s", got)
	}
	log.add(t, reading("plant/b", point.BoolOf(true)))
	if got := types(2); got != "[NBIRTH NDATA]" {
		t.Errorf("a new point gives %s", got)
	}
	stop()
	if got := types(1); got != "[NDEATH]" {
		t.Errorf("the end gives %s", got)
	}
}
