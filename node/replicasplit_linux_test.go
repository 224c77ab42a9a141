package node_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/client"
	peer "voltbus/bus/client"
	"voltbus/identity"
	link "voltbus/internal/relay"
	"voltbus/operation/agents"
	"voltbus/operation/cluster/report"
	"voltbus/point"
)

// network is between the replicas. What is cut off sends and receives nothing, and no connection ends by that.
type network struct {
	set *replicaSet

	mu     sync.Mutex
	cut    string        // the replica that is cut off
	healed chan struct{} // closed when none is
}

// newNetwork makes three replicas that reach each other through relays.
func newNetwork(t *testing.T, s *replicaSet) *network {
	t.Helper()
	n := &network{set: s, healed: make(chan struct{})}
	close(n.healed)
	s.list, s.listen = "", map[string]string{}
	for i, listen := range freeAddresses(t, len(s.names)) {
		name := s.names[i]
		r, err := link.Open(listen, func(ctx context.Context, near, far net.Conn) { n.carry(ctx, name, near, far) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		s.listen[name], s.list = listen, s.list+entry(name, r.Addr())
	}
	for _, name := range s.names {
		s.configure(t, name)
	}
	return n
}

// split cuts a replica off from the others; heal undoes it.
func (n *network) split(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut, n.healed = name, make(chan struct{})
}

func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = ""
	close(n.healed)
}

// carry forwards between two replicas, of which one called the other.
func (n *network) carry(ctx context.Context, called string, near, far net.Conn) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	caller := ""
	for range 100 { // the list of sockets may lack one while others come and go
		if caller = n.caller(near.RemoteAddr()); caller != "" {
			break
		}
	}
	if caller == "" {
		return // it calls again
	}
	var both sync.WaitGroup
	pump := func(to, from net.Conn) {
		defer near.Close()
		defer far.Close()
		defer end()
		buffer := make([]byte, 64<<10)
		for {
			got, err := from.Read(buffer)
			if err != nil || !n.passes(ctx, caller, called) {
				return
			}
			if _, err := to.Write(buffer[:got]); err != nil {
				return
			}
		}
	}
	both.Go(func() { pump(far, near) })
	both.Go(func() { pump(near, far) })
	both.Wait()
}

// passes waits while one of two replicas is cut off; false if ctx ends.
func (n *network) passes(ctx context.Context, a, b string) bool {
	n.mu.Lock()
	healed, cut := n.healed, n.cut == a || n.cut == b
	n.mu.Unlock()
	if !cut {
		return true
	}
	select {
	case <-healed:
		return true
	case <-ctx.Done():
		return false
	}
}

// caller returns which replica has a local address: that whose process has its socket.
func (n *network) caller(a net.Addr) (name string) {
	id := ""
	for tries := 0; id == "" && tries < 100; tries++ { // the list may lack a line while it changes
		id = inode(a.(*net.TCPAddr))
	}
	socket := "socket:[" + id + "]"
	n.set.pids.Range(func(key, pid any) bool {
		list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range list {
			if to, _ := os.Readlink(fd); to == socket {
				name = key.(string)
			}
		}
		return name == ""
	})
	return name
}

// inode returns that of the socket of an address, as /proc/net/tcp lists it.
func inode(a *net.TCPAddr) string {
	ip := slices.Clone(a.IP.To4())
	slices.Reverse(ip) // in the order of the machine
	want := strings.ToUpper(hex.EncodeToString(ip)) + ":" + strings.ToUpper(hex.EncodeToString(binary.BigEndian.AppendUint16(nil, uint16(a.Port))))
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 9 && fields[1] == want {
			return fields[9]
		}
	}
	return ""
}

// agent connects an agent that may record to a replica.
func (s *replicaSet) agent(t *testing.T, at string) *peer.Client {
	t.Helper()
	key, err := identity.OpenKey(filepath.Join(t.TempDir(), "probe.nk"))
	if err != nil {
		t.Fatal(err)
	}
	grants := identity.Grants{Record: []point.Pattern{"probe"}}
	if _, err := client.Do(t.Context(), s.processes[at].Client, agents.Add, agents.New{Name: "probe", Public: key.Public(), Grants: grants}); err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(filepath.Join(s.dir, "data-"+at, identity.TLSFolder, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	c, err := peer.Connect(t.Context(), peer.Options{Address: s.processes[at].bus, CA: pool, Key: key, Name: "probe"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// The owner of a device is cut off from the other replicas, not from its clients. It acknowledges nothing, whoever asks, and says why; its
// device goes to another one. When the network is whole again, each has everything once.
func TestAReplicaThatIsCutOffRefusesEverybodyAndGivesItsDeviceUp(t *testing.T) {
	t.Parallel()
	m, s := newFlowMeter(t), newReplicaSet(t)
	network := newNetwork(t, s)
	s.share(t, meterSite(m))
	s.underLoad(t, func(more func(int64)) {
		first := s.soleReader(t, m, 0)
		p, at := s.processes[first], slices.Index(s.names, first)
		other := s.names[(at+1)%3]
		agent, device := s.agent(t, first), s.at(t, first, "device", 0)
		record := func() error {
			ctx, stop := context.WithTimeout(t.Context(), answerWait)
			defer stop()
			return agent.Record(ctx, []point.Sample{{Point: "probe/a", Time: time.Now(), Value: point.IntOf(1)}}, "")
		}
		eventually(t, "the agent records", func() bool { return record() == nil })
		network.split(first)
		s.sees(t, first, "that it is alone", func(c *report.Cluster) bool { return c.State == "minority" })
		_, err := p.SendSamples(t.Context(), client.Body{Media: "application/json", Text: []byte(`{"samples":[{"point":"a/b","value":1}]}`)})
		if err == nil || !strings.Contains(err.Error(), "reaches 1 of 3") {
			t.Errorf("HTTP is answered %v", err)
		}
		if err := record(); err == nil || !strings.Contains(err.Error(), "reaches 1 of 3") {
			t.Errorf("an agent is answered %v", err)
		}
		ctx, stop := context.WithTimeout(t.Context(), answerWait)
		defer stop()
		if r, err := device.Publish(ctx, &paho.Publish{Topic: "n/device", QoS: 1, Payload: []byte("1")}); err == nil && r.ReasonCode < 0x80 {
			t.Errorf("MQTT is answered %+v", r)
		}
		if c, err := dialMQTT(t, p.mqtt, &paho.Connect{ClientID: "late", CleanStart: true, KeepAlive: 60}); err == nil || c.ack == nil || c.ack.ReasonCode != 0x88 {
			t.Errorf("a CONNECT is answered %+v %v", c.ack, err)
		}
		if h, err := p.Health(t.Context()); err != nil || !concerned(h, "replicas", "critical") {
			t.Errorf("the health is %+v %v", h.Concerns, err)
		}
		eventually(t, "the device is not read here any more", func() bool { return p.device(t).State == "elsewhere" })
		_, since := m.readers(0)
		if second := s.soleReader(t, m, since); second == first {
			t.Errorf("%s reads although it is cut off", first)
		}
		s.sees(t, other, "that one is not reached", func(c *report.Cluster) bool { return !c.Replicas[at].Reached && c.State == "degraded" })
		more(50)
		network.heal()
		for _, name := range s.names {
			s.sees(t, name, "all", together(3))
		}
		eventually(t, "agents are answered again", func() bool { return record() == nil })
	})
}
