package node_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/agents"
	"voltbus/operation/sinks"
	"voltbus/point"
	"voltbus/testing/peers"
)

// The example in docs/examples/spark finds a zone that is too warm in the files of days in an object store, and raises the alert at the node, where it is
// an alarm of the list. It clears it when the zone has cooled down.
func TestSparkRaisesAnAlarmForAZoneThatIsTooWarm(t *testing.T) {
	python := os.Getenv("VOLTBUS_SPARK_PYTHON")
	if python == "" {
		t.Skip("NOT TESTED: there is no PySpark: run `make spark`")
	}
	server := peers.StartObjectStore(t, "fleet")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lake"), []byte(peers.StoreSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, load(t, dir, listenAnywhere+fmt.Sprintf(`
sinks:
  - {name: lake, kind: s3, url: "http://%s", user: %s, password_file: lake, into: fleet/readings, points: ["plant/**"], every: 1s}
`, server.Addr, peers.StoreUser)))
	file := filepath.Join(dir, "spark.nk")
	key, err := identity.OpenKey(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), r.Client, agents.Add, agents.New{Name: "spark", Public: key.Public()}); err != nil {
		t.Fatal(err)
	}
	read := func(minutes int, zone string, value float64) {
		at := time.Now().Add(-time.Duration(minutes) * time.Minute).UTC()
		r.record([]point.Sample{{Point: point.Path("plant/" + zone + "/temp"), Time: at, Value: point.FloatOf(value)}})
	}
	for minutes := 9; minutes > 1; minutes-- {
		read(minutes, "zone-1", 27.5)
		read(minutes, "zone-2", 21)
	}
	read(100, "zone-1", 20) // long ago
	arrived := func(n uint64) {
		eventually(t, "the files are in the store", func() bool {
			list, err := client.Do(wait(t), r.Client, sinks.List, struct{}{})
			return err == nil && list.Sinks[0].Sent == n
		})
	}
	ask := func() string {
		cmd := exec.CommandContext(t.Context(), python, filepath.Join(peers.Root(), "docs", "examples", "spark", "too_warm.py"),
			filepath.Join(server.Files(), "fleet", "readings"), "--above", "26", "--minutes", "30")
		cmd.Env = append(os.Environ(), "VOLTBUS_BUS="+r.BusAddr(), "VOLTBUS_CA="+filepath.Join(dir, "data", identity.TLSFolder, "ca.pem"),
			"VOLTBUS_KEY="+file, "VOLTBUS_AGENT=spark")
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		return strings.TrimSpace(string(out))
	}
	arrived(17)
	if said := ask(); said != "2 points, 1 too warm" {
		t.Errorf("it prints %q", said)
	}
	eventually(t, "the alarm is in the list", func() bool {
		list := r.alarmed()
		return strings.Contains(list, "too-warm/plant/zone-1/temp unacknowledged") && !strings.Contains(list, "zone-2")
	})
	read(1, "zone-1", 22)
	arrived(18)
	if said := ask(); said != "2 points, 0 too warm" {
		t.Errorf("it prints %q", said)
	}
	eventually(t, "the alarm has returned", func() bool { return strings.Contains(r.alarmed(), "too-warm/plant/zone-1/temp returned") })
}
