package node_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/node"
	"voltbus/operation/devices"
	ledgerop "voltbus/operation/ledger"
)

// write writes a configuration beside its data directory and loads it.
func load(t testing.TB, dir, text string) *config.Config {
	t.Helper()
	file := filepath.Join(dir, "voltbus.yaml")
	if err := os.WriteFile(file, []byte("node: {name: test, data: data}\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

const listenAnywhere = "listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0}\n"

// listenWide is of a node with every part that a configuration can leave out.
const listenWide = "listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0, mqtt: 127.0.0.1:0}\nmetering: {role: mds, zone: Europe/Berlin}\n"

// running is a node that runs in this process.
type running struct {
	*node.Node
	*client.Client
	t    testing.TB
	stop context.CancelFunc
	done chan error
	once sync.Once
}

func open(cfg *config.Config) (*node.Node, error) {
	return openLogged(cfg, slog.New(slog.DiscardHandler))
}

func openLogged(cfg *config.Config, log *slog.Logger) (*node.Node, error) {
	return openBack(cfg, log, nil)
}

// openBack opens a node whose configuration went back.
func openBack(cfg *config.Config, log *slog.Logger, back *revision.Trial) (*node.Node, error) {
	return node.Open(context.Background(), node.Options{
		Config: cfg, File: filepath.Join(filepath.Dir(cfg.Node.Data), "voltbus.yaml"), Kinds: all.Kinds(), Log: log, Version: answer.Version{Version: "test"},
		WentBack:  back,
		Statement: func([]string, string) []string { return []string{os.Args[0]} }, // see TestMain
		AgentExec: []string{os.Args[0], agentExec},
	})
}

// run opens and runs a node until the test or halt ends it.
func run(t testing.TB, cfg *config.Config) *running {
	t.Helper()
	return runLogged(t, cfg, slog.New(slog.DiscardHandler))
}

func runLogged(t testing.TB, cfg *config.Config, log *slog.Logger) *running {
	t.Helper()
	n, err := openLogged(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	return runNode(t, n, cfg)
}

// runBack is run for a node whose configuration went back.
func runBack(t testing.TB, cfg *config.Config, back *revision.Trial) *running {
	t.Helper()
	n, err := openBack(cfg, slog.New(slog.DiscardHandler), back)
	if err != nil {
		t.Fatal(err)
	}
	return runNode(t, n, cfg)
}

func runNode(t testing.TB, n *node.Node, cfg *config.Config) *running {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Node: n, t: t, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- n.Run(ctx) }()
	t.Cleanup(r.halt)
	token, err := identity.ReadToken(filepath.Join(cfg.Node.Data, identity.AdminTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	if r.Client, err = client.New(n.HTTPAddr(), token, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// halt stops the node; later calls do nothing.
func (r *running) halt() {
	r.stop()
	r.once.Do(func() {
		if err := <-r.done; err != nil {
			r.t.Errorf("Run: %v", err)
		}
	})
}

// eventually asks until the condition holds. Conditions are of the kind "the ledger shows it",
// which has no event to wait for.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	eventuallyIn(t, 60*time.Second, what, condition)
}

// eventuallyIn is eventually for what the other side of a protocol may delay on its own for long.
func eventuallyIn(t testing.TB, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(limit)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}

// ledger returns the ledger, which adds up whenever one looks.
func (r *running) ledger() answer.Ledger {
	r.t.Helper()
	l, err := client.Do(context.Background(), r.Client, ledgerop.Get, ledgerop.Reach{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, o := range l.Origins {
		if !o.Balanced {
			r.t.Errorf("the ledger does not add up: %+v", o)
		}
	}
	return l
}

const zones = `
devices:
  - {path: site/zone1, driver: sim, interval: 100ms, config: {model: zone}}
  - {path: site/meter, driver: sim, interval: 100ms, config: {model: meter}}
`

func TestANodeCollectsKeepsAndAnswers(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+zones))
	ctx := context.Background()
	for _, device := range []string{"site/zone1", "site/meter"} {
		points, err := r.Points(ctx, client.Filter{Pattern: device})
		if err != nil || len(points.Points) == 0 {
			t.Fatalf("points: %+v, %v", points, err)
		}
		path := points.Points[0].Path
		eventually(t, "samples of "+path+" are stored", func() bool {
			samples, err := r.Range(ctx, client.Span{Points: []string{path}, From: "-5m"}, 0, false)
			return err == nil && len(samples.Series) == 1 && len(samples.Series[0].Samples) >= 3
		})
	}
	devices, err := client.Do(ctx, r.Client, devices.List, struct{}{})
	if err != nil || len(devices.Devices) != 2 || devices.Devices[0].State != "online" {
		t.Errorf("devices: %+v, %v", devices, err)
	}
	health, err := r.Client.Health(ctx)
	if err != nil || health.Status != "ok" {
		t.Errorf("health: %+v, %v", health, err)
	}
}

func TestHistoryIsThereAfterARestartAndNumberingGoesOn(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, listenAnywhere+zones)
	first := run(t, cfg)
	eventually(t, "samples are stored", func() bool { return first.ledger().Origins[0].Stored > 50 })
	first.halt()
	cfg.Devices = nil
	second := run(t, cfg)
	before := second.ledger().Origins[0]
	if before.Stored < 50 || before.Acknowledged != before.Stored || before.Missing+before.Repeated != 0 || !before.Balanced {
		t.Errorf("after a restart without devices: %+v", before)
	}
	second.halt()
	third := run(t, load(t, dir, listenAnywhere+zones))
	eventually(t, "more samples are stored", func() bool { return third.ledger().Origins[0].Stored > before.Stored+50 })
	if o := third.ledger().Origins[0]; o.Missing+o.Repeated+o.Refused != 0 || !o.Balanced {
		t.Errorf("after two restarts: %+v", o)
	}
}

func TestReloadKeepsDevicesThatDidNotChange(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere+zones))
	ctx := context.Background()
	eventually(t, "the device that stays was read", func() bool {
		d, err := client.Do(ctx, r.Client, devices.List, struct{}{})
		return err == nil && d.Devices[1].Path == "site/zone1" && d.Devices[1].Reads > 3
	})
	changes, err := r.Reload(ctx, load(t, dir, `
listen: {http: 127.0.0.1:1, bus: off}
devices:
  - {path: site/zone1, driver: sim, interval: 100ms, config: {model: zone}}
  - {path: site/weather, driver: sim, interval: 100ms, config: {model: weather}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(changes.Added, changes.Removed, changes.Changed, changes.Restart) != "[site/weather] [site/meter] [] [listen]" {
		t.Errorf("changes are %+v", changes)
	}
	d, err := client.Do(ctx, r.Client, devices.List, struct{}{})
	if err != nil || len(d.Devices) != 2 || d.Devices[1].Path != "site/zone1" || d.Devices[1].Reads <= 3 || d.Devices[1].Failures != 0 {
		t.Errorf("after the reload: %+v, %v", d, err)
	}
	points, err := r.Points(ctx, client.Filter{Pattern: "site/meter"})
	if err != nil || len(points.Points) != 0 {
		t.Errorf("points of the removed device: %+v, %v", points, err)
	}
	if points, err = r.Points(ctx, client.Filter{Pattern: "site/zone1"}); err != nil || len(points.Points) == 0 {
		t.Errorf("points of the device that stayed: %+v, %v", points, err)
	}
}

func TestASecondNodeOnTheDataDirectoryIsRefused(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	run(t, cfg)
	_, err := open(cfg)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "stop that one, or give this node another directory") {
		t.Errorf("error is %v", err)
	}
}

func TestOpenSaysInOneSentenceWhatToDo(t *testing.T) {
	taken := run(t, load(t, t.TempDir(), listenAnywhere))
	blocked := t.TempDir()
	if err := os.WriteFile(filepath.Join(blocked, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		dir, text, want string
		kind            fault.Kind
	}{
		"the page's port is taken": {
			t.TempDir(), "listen: {http: '" + strings.TrimPrefix(taken.HTTPAddr(), "http://") + "', bus: off}\n",
			"stop the program that uses the port, or set listen.http to another address", fault.Conflict,
		},
		"the bus's port is taken": {
			t.TempDir(), "listen: {http: 127.0.0.1:0, bus: '" + taken.BusAddr() + "'}\n",
			"stop the program that uses the port, or set listen.bus to another address", fault.Conflict,
		},
		"the data directory cannot be made": {
			blocked, listenAnywhere, "give this node another directory in node.data", fault.Unavailable,
		},
	} {
		_, err := open(load(t, tt.dir, tt.text))
		if !fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error is %v, want %v with %q", name, err, tt.kind, tt.want)
		}
	}
}

func TestStrangePathsComeThroughUnchanged(t *testing.T) {
	paths := []string{`a b.c/*/>`, `<img src=x onerror=alert(1)>/"q"`, "Zürich/温度 °C", "%20/.../x"}
	text := listenAnywhere + "devices:\n"
	for _, p := range paths {
		text += fmt.Sprintf("  - {path: %q, driver: sim, interval: 100ms, config: {model: random, points: 2}}\n", p)
	}
	r := run(t, load(t, t.TempDir(), text))
	ctx := context.Background()
	for _, p := range paths {
		live := make(chan string, 1)
		streaming, cancel := context.WithCancel(ctx)
		go func() {
			_ = r.Stream(streaming, "", func(m jsonRaw) error {
				if strings.Contains(string(m), "device") {
					select {
					case live <- string(m):
					default:
					}
				}
				return nil
			})
		}()
		<-live
		cancel()
		points, err := r.Points(ctx, client.Filter{Search: p})
		if err != nil || len(points.Points) != 2 || points.Points[0].Device != p {
			t.Errorf("points of %q: %+v, %v", p, points, err)
			continue
		}
		eventually(t, "samples of "+p+" are stored", func() bool {
			samples, err := r.Range(ctx, client.Span{Points: []string{points.Points[0].Path}, From: "-5m"}, 0, false)
			return err == nil && len(samples.Series) == 1 && len(samples.Series[0].Samples) > 0
		})
	}
}
