package node_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/identity"
	ledgerop "voltbus/operation/ledger"
	"voltbus/testing/peers"
)

const replicaEnv = "VOLTBUS_TEST_REPLICA"

// replicaSet are three replicas, each a process of its own.
type replicaSet struct {
	dir       string
	names     []string
	list      string            // the entries of cluster.replicas
	more      string            // lines of each configuration
	listen    map[string]string // cluster.listen of each, where others do not find it there
	pids      sync.Map          // of their processes, by name
	processes map[string]*replicaProcess
	addresses sync.Map // of their brokers, by name
	clients   sync.Map // of their API, by name
}

type replicaProcess struct {
	cmd        *exec.Cmd
	in         io.Closer // ends it when it is closed
	http, mqtt string
	bus        string
	*client.Client
}

func newReplicaSet(t *testing.T) *replicaSet {
	t.Helper()
	s := &replicaSet{dir: t.TempDir(), names: []string{"r1", "r2", "r3"}, processes: map[string]*replicaProcess{}}
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	if err := os.WriteFile(filepath.Join(s.dir, "cluster.key"), []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	addresses := freeAddresses(t, len(s.names))
	for i, name := range s.names {
		s.list += entry(name, addresses[i])
	}
	for _, name := range s.names {
		s.configure(t, name)
	}
	return s
}

// clientsOf is where MQTT clients are said to reach a replica.
func clientsOf(name string) string { return name + ".example.com:1883" }

func entry(name, address string) string {
	return fmt.Sprintf("    - {name: %s, address: '%s'}\n", name, address)
}

func freeAddresses(t *testing.T, n int) (list []string) {
	t.Helper()
	for range n {
		list = append(list, "127.0.0.1:"+peers.FreePort(t))
	}
	return list
}

// configure writes the configuration of a replica.
func (s *replicaSet) configure(t *testing.T, name string) {
	t.Helper()
	listen := ""
	if at := s.listen[name]; at != "" {
		listen = "  listen: " + at + "\n"
	}
	text := "node: {name: " + name + ", data: data-" + name + "}" + mqttNumbers + s.more + "cluster:\n  key_file: cluster.key\n  mqtt_address: " + clientsOf(name) + "\n" + listen + "  replicas:\n" + s.list
	if err := os.WriteFile(s.file(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *replicaSet) file(name string) string { return filepath.Join(s.dir, name+".yaml") }

// replicaChild runs a replica until it is killed, and prints where it listens.
func replicaChild(file string) {
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		fmt.Println("error", err)
		return
	}
	n, err := openLogged(cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	mqtt := n.MQTTAddr(false)
	if mqtt == "" {
		mqtt = "-"
	}
	fmt.Println(n.HTTPAddr(), mqtt, n.BusAddr())
	ctx, stop := context.WithCancel(context.Background())
	go func() { // whoever started it ends it by closing its input
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	fmt.Println("ended", n.Run(ctx))
}

// start starts replicas together, since none can begin without a majority.
func (s *replicaSet) start(t *testing.T, names ...string) {
	t.Helper()
	outputs := map[string]*bufio.Reader{}
	for _, name := range names {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), replicaEnv+"="+s.file(name))
		var log bytes.Buffer
		cmd.Stderr = &log
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.pids.Store(name, cmd.Process.Pid)
		t.Cleanup(func() {
			_ = in.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if t.Failed() {
				t.Logf("%s says:\n%s", name, log.String())
			}
		})
		s.processes[name] = &replicaProcess{cmd: cmd, in: in}
		outputs[name] = bufio.NewReader(out)
	}
	for _, name := range names {
		late := time.AfterFunc(startLimit, func() { _ = s.processes[name].cmd.Process.Signal(syscall.SIGQUIT) }) // so that it says what it waits for
		defer late.Stop()
		line, err := outputs[name].ReadString('\n')
		fields := strings.Fields(line)
		if err != nil || len(fields) != 3 || fields[0] == "error" {
			t.Fatalf("%s: %s %v", name, line, err)
		}
		p := s.processes[name]
		p.http, p.mqtt, p.bus = fields[0], fields[1], fields[2]
		s.addresses.Store(name, p.mqtt)
		token, err := identity.ReadToken(filepath.Join(s.dir, "data-"+name, identity.AdminTokenFile))
		if err != nil {
			t.Fatal(err)
		}
		if p.Client, err = client.New(p.http, token, nil); err != nil {
			t.Fatal(err)
		}
		s.clients.Store(name, p.Client)
	}
}

// stop ends a replica as a service manager does.
func (s *replicaSet) stop(t *testing.T, name string) {
	t.Helper()
	p := s.processes[name]
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%s ended: %v", name, err)
	}
}

// kill ends a replica without a word.
func (s *replicaSet) kill(name string) {
	p := s.processes[name]
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *replicaProcess) ledger(ctx context.Context) (answer.Ledger, error) {
	return client.Do(ctx, p.Client, ledgerop.Get, ledgerop.Reach{})
}

func (p *replicaProcess) numbers(ctx context.Context, path string) (list []int) {
	r, err := p.Range(ctx, client.Span{Points: []string{path}, From: "2000-01-01T00:00:00Z"}, 100_000, false)
	if err != nil {
		return nil
	}
	for _, series := range r.Series {
		samples, _ := client.Samples(series)
		for _, one := range samples {
			n, _ := strconv.Atoi(one.Value.String())
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// mover publishes numbers with QoS 1, and goes to another replica when its own does not answer.
type mover struct {
	name         string
	set          *replicaSet
	addresses    *sync.Map
	at           int
	acknowledged []int
	again        map[int]bool // sent more than once, since no answer came
	total        *atomic.Int64
}

// startLimit is how long a replica may take to start on a busy machine.
const startLimit = 25 * time.Second

// answerWait is how long a client waits for an answer before it goes elsewhere.
const answerWait = 3 * time.Second

// connect returns a client; nil if the replica does not answer.
func (m *mover) connect(ctx context.Context, address string) *paho.Client {
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil
	}
	c := paho.NewClient(paho.ClientConfig{Conn: packets.NewThreadSafeConn(conn)})
	if _, err := c.Connect(ctx, &paho.Connect{ClientID: m.name, CleanStart: true, KeepAlive: 60}); err != nil {
		_ = conn.Close()
		return nil
	}
	return c
}

func (m *mover) run(ctx context.Context) {
	for n := 1; ctx.Err() == nil; {
		address, _ := m.addresses.Load(m.set.names[m.at%len(m.set.names)])
		m.at++
		c := m.connect(ctx, address.(string))
		if c == nil {
			continue
		}
		for ; ctx.Err() == nil; n++ {
			one, stop := context.WithTimeout(ctx, answerWait)
			r, err := c.Publish(one, &paho.Publish{Topic: "n/" + m.name, QoS: 1, Payload: []byte(strconv.Itoa(n))})
			stop()
			if err != nil || r == nil || r.ReasonCode != 0 {
				m.again[n] = true
				break
			}
			m.acknowledged = append(m.acknowledged, n)
			m.total.Add(1)
		}
		_ = c.Disconnect(&paho.Disconnect{})
	}
}

// Replicas are killed in turn while clients publish and go to others. In the end each has everything that any of them
// acknowledged, once, and the ledgers add up.
func TestReplicasKilledInTurnLoseNothing(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.underLoad(t, func(more func(int64)) {
		for _, name := range s.names {
			more(100)
			s.kill(name)
			more(100) // the other two serve on
			s.start(t, name)
		}
	})
}

// underLoad starts the replicas and lets clients publish while disturb runs. Then each replica must have all that any acknowledged, and nothing
// twice that was sent once.
func (s *replicaSet) underLoad(t *testing.T, disturb func(more func(int64))) {
	t.Helper()
	s.start(t, s.names...)
	ctx, stop := context.WithCancel(t.Context())
	var total atomic.Int64
	var writers sync.WaitGroup
	var movers []*mover
	for i := range 3 {
		m := &mover{name: fmt.Sprint("m", i), set: s, addresses: &s.addresses, at: i, again: map[int]bool{}, total: &total}
		movers = append(movers, m)
		writers.Go(func() { m.run(ctx) })
	}
	more := func(n int64) {
		want := total.Load() + n
		eventually(t, "clients go on", func() bool { return total.Load() >= want })
	}
	disturb(more)
	more(100)
	stop()
	writers.Wait()
	for _, m := range movers {
		path := "n/" + m.name + "/value"
		for _, name := range s.names {
			p := s.processes[name]
			var got []int
			eventually(t, name+" has all of "+path, func() bool {
				got = p.numbers(t.Context(), path)
				return contains(got, m.acknowledged)
			})
			for i := 1; i < len(got); i++ {
				if got[i] == got[i-1] && !m.again[got[i]] {
					t.Errorf("%s has %d of %s twice, which was sent once", name, got[i], path)
				}
			}
		}
	}
	s.balanced(t)
	t.Logf("%d messages acknowledged", total.Load())
}

// contains reports whether a sorted list has all of another one.
func contains(list, all []int) bool {
	for _, n := range all {
		if _, found := slices.BinarySearch(list, n); !found {
			return false
		}
	}
	return true
}

// balanced waits until each replica stored the blocks of all: at least what each had acknowledged before, and at most what it had acknowledged
// afterwards, since a device may be read meanwhile.
func (s *replicaSet) balanced(t *testing.T) {
	t.Helper()
	why := ""
	defer func() { t.Log(why) }()
	eventually(t, "each replica stored what each acknowledged", func() bool {
		before, _, err := s.acknowledged(t)
		if err != nil {
			why = err.Error()
			return false
		}
		stored := map[string]map[string]uint64{}
		for _, name := range s.names {
			l, err := s.processes[name].ledger(t.Context())
			if err != nil {
				why = fmt.Sprintf("%s: %v", name, err)
				return false
			}
			stored[name] = map[string]uint64{}
			for _, o := range l.Origins {
				stored[name][o.Origin] = o.Stored
			}
		}
		after, ledgers, err := s.acknowledged(t)
		if err != nil {
			why = err.Error()
			return false
		}
		for name, all := range stored {
			for origin, n := range before {
				if all[origin] < n || all[origin] > after[origin] {
					why = fmt.Sprintf("%s stored %d of %s, of which %d were acknowledged before and %d after; the ledgers are %+v", name, all[origin], origin, n, after[origin], ledgers)
					return false
				}
			}
		}
		why = "each has all"
		return true
	})
}

// acknowledged returns how much each origin acknowledged, and the ledgers of all, which add up.
func (s *replicaSet) acknowledged(t *testing.T) (map[string]uint64, map[string]answer.Ledger, error) {
	t.Helper()
	counts, ledgers := map[string]uint64{}, map[string]answer.Ledger{}
	for _, name := range s.names {
		l, err := s.processes[name].ledger(t.Context())
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		ledgers[name] = l
		for _, o := range l.Origins {
			if o.Own {
				counts[o.Origin] = o.Acknowledged
			}
		}
	}
	for name, l := range ledgers {
		for _, o := range l.Origins {
			if !o.Balanced || o.Missing > 0 {
				t.Fatalf("the ledger of %s does not add up: %+v; all are %+v", name, o, ledgers)
			}
		}
	}
	return counts, ledgers, nil
}

// The last replica acknowledges nothing, and says why; when another one is back it goes on.
func TestAReplicaWithoutAMajorityRefusesAndSaysSo(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.start(t, s.names...)
	p := s.processes["r1"]
	publish := func() error {
		ctx, stop := context.WithTimeout(t.Context(), answerWait)
		defer stop()
		in, err := p.SendSamples(ctx, client.Body{Media: "application/json", Text: []byte(`{"samples":[{"point":"a/b","value":1}]}`)})
		if err == nil && in.Accepted != 1 {
			err = fmt.Errorf("the answer is %+v", in)
		}
		return err
	}
	eventually(t, "three replicas record", func() bool { return publish() == nil })
	s.kill("r2")
	eventually(t, "two replicas record", func() bool { return publish() == nil })
	s.kill("r3")
	eventually(t, "one refuses and says so", func() bool {
		err := publish()
		return err != nil && strings.Contains(err.Error(), "reaches 1 of 3") && strings.Contains(err.Error(), "r2, r3")
	})
	if c, err := dialMQTT(t, p.mqtt, &paho.Connect{ClientID: "c", CleanStart: true, KeepAlive: 60}); err == nil || c.ack == nil || c.ack.ReasonCode != 0x88 {
		t.Errorf("a client is answered %+v %v", c.ack, err)
	}
	s.start(t, "r3")
	eventually(t, "two record again", func() bool { return publish() == nil })
	s.start(t, "r2")
	s.balanced(t)
}
