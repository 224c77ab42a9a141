package node_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/identity"
	"voltbus/meter/cluster"
	"voltbus/operation/metering"
	"voltbus/operation/metering/account"
	"voltbus/operation/tokens"
	"voltbus/testing/link"
)

const memberEnv = "VOLTBUS_TEST_MEMBER"

// memberChild runs the node whose configuration is in a folder, and prints where it listens, until it is killed.
func memberChild(dir string) {
	cfg, err := config.Load(filepath.Join(dir, "voltbus.yaml"), all.Kinds())
	if err != nil {
		fmt.Println("error", err)
		return
	}
	n, err := open(cfg)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("http", n.HTTPAddr())
	fmt.Println("error", n.Run(context.Background()))
}

// clusterMember is a member of a cluster, in this process or in one of its own. Others reach it by its link.
type clusterMember struct {
	*running

	name, dir, address string
	link               *link.Link
	kill               func() // of a member in a process
}

// clusterOf are the members of a cluster that run.
type clusterOf struct {
	t       *testing.T
	members []*clusterMember
	copies  int
}

// config writes the configuration of a member, which believes that the members have these names.
func (k *clusterOf) config(m *clusterMember, names ...string) string {
	text := "node: {name: " + m.name + ", data: data}\n" + listenAnywhere + "metering:\n  role: mds\n  zone: Europe/Berlin\n"
	text += fmt.Sprintf("  cluster:\n    copies: %d\n    timeout: 2s\n    members:\n", k.copies)
	for _, other := range k.members {
		for _, name := range names {
			if name == other.name {
				text += fmt.Sprintf("      - {name: %s, url: \"http://%s\", token_file: %s.token}\n", name, other.link.Addr(), name)
			}
		}
	}
	return text + "devices: []\n"
}

// prepare makes folders and links of members; none runs.
func prepareCluster(t *testing.T, copies int, names ...string) *clusterOf {
	t.Helper()
	k := &clusterOf{t: t, copies: copies}
	for _, name := range names {
		k.members = append(k.members, &clusterMember{name: name, dir: t.TempDir(), link: link.New(t)})
	}
	for _, m := range k.members {
		k.write(m, k.config(m, names...))
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(m.dir, name+".token"), []byte("none-yet"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return k
}

func (k *clusterOf) write(m *clusterMember, text string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, "voltbus.yaml"), []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// startCluster starts a cluster whose members have each other's tokens. Those that are named in processes run in processes of their own.
func startCluster(t *testing.T, copies int, names []string, processes ...string) *clusterOf {
	t.Helper()
	k := prepareCluster(t, copies, names...)
	for _, m := range k.members {
		k.start(m, strings.Contains(strings.Join(processes, " "), m.name))
	}
	for _, m := range k.members {
		k.introduce(m)
	}
	return k
}

// introduce gives the other members their tokens at a member.
func (k *clusterOf) introduce(m *clusterMember) {
	k.t.Helper()
	for _, other := range k.members {
		if other == m {
			continue
		}
		issued, err := client.Do(k.t.Context(), m.Client, tokens.Issue, tokens.Recorder{Name: other.name, Member: true})
		if err != nil {
			k.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other.dir, m.name+".token"), []byte(issued.Token), 0o600); err != nil {
			k.t.Fatal(err)
		}
	}
}

func (k *clusterOf) start(m *clusterMember, process bool) {
	t := k.t
	t.Helper()
	if process {
		m.running, m.address, m.kill = memberProcess(t, m.dir)
		t.Cleanup(func() { m.kill() })
	} else {
		cfg, err := config.Load(filepath.Join(m.dir, "voltbus.yaml"), all.Kinds())
		if err != nil {
			t.Fatal(err)
		}
		m.running = runLogged(t, cfg, slog.New(slog.DiscardHandler))
		m.address = m.HTTPAddr()
	}
	m.link.Lead(strings.TrimPrefix(m.address, "http://"))
}

func memberProcess(t *testing.T, dir string) (r *running, address string, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), memberEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "http ") {
		t.Fatalf("the process says %q", lines.Text())
	}
	address = strings.TrimPrefix(lines.Text(), "http ")
	token, err := identity.ReadToken(filepath.Join(dir, "data", identity.AdminTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(address, token, nil)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	return &running{t: t, Client: c}, address, func() {
		once.Do(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed
		})
	}
}

// account returns the account of the cluster as a member gives it.
func (m *clusterMember) account() account.MeterCluster {
	m.t.Helper()
	got, err := client.Do(m.t.Context(), m.Client, metering.ClusterStatus, metering.Nothing{})
	if err != nil {
		m.t.Fatal(err)
	}
	return got
}

// settled waits until a cluster has stored so many readings that any member accepted, and all adds up.
func (k *clusterOf) settled(accepted uint64) account.MeterCluster {
	k.t.Helper()
	var got account.MeterCluster
	defer func() {
		if k.t.Failed() {
			k.t.Logf("the account: %+v", got)
		}
	}()
	eventually(k.t, fmt.Sprintf("%d readings are stored", accepted), func() bool {
		got = k.members[0].account()
		return got.Cluster.Complete && got.Balanced && got.Sum.Accepted == accepted && got.Sum.Stored == accepted*uint64(k.copies) && got.Sum.Waiting == 0
	})
	return got
}

func meterNames(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("cm%03d", i))
	}
	return list
}

func (m *clusterMember) register(names []string) answer.MeterRegistered {
	m.t.Helper()
	var list []answer.MeterEntry
	for _, id := range names {
		list = append(list, smartMeter(id))
	}
	got, err := client.Do(m.t.Context(), m.Client, metering.Register, metering.Registration{Meters: list})
	if err != nil {
		m.t.Fatal(err)
	}
	return got
}

// readingsOf asks for the readings of a day of a meter.
func (m *clusterMember) readingsOf(id string, day time.Time, versions bool) (answer.MeterReadings, error) {
	return client.Do(m.t.Context(), m.Client, metering.Readings, metering.Span{
		ID: metering.ID{Meter: id}, Channel: 1, From: day.Format(time.RFC3339), To: day.AddDate(0, 0, 1).Format(time.RFC3339), Versions: versions,
	})
}

// meterOwners returns which member owns each meter.
func meterOwners(t *testing.T, names []string, meters []string) map[string]string {
	t.Helper()
	view, err := cluster.New(names, 1)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, id := range meters {
		out[id] = view.Names()[view.Owner(id)]
	}
	return out
}
