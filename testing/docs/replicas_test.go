package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"voltbus/testing/peers"
)

// replicaKey writes a key for replicas, which only this user may read, and returns its file.
func replicaKey(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "cluster.key")
	if err := os.WriteFile(file, []byte("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// named gives the configuration of a replica, which has the name of its host, a name.
func named(text, name string) string {
	return strings.Replace(text, "  data: /var/lib/voltbus", "  name: "+name+"\n  data: /var/lib/voltbus", 1)
}

func TestTheComposeFileOfReplicasIsWhatItsSchemaSays(t *testing.T) {
	tool(t, "hadolint") // comes with the same list
	// The checker knows no merged keys, so it gets the file as a reader of YAML sees it.
	const script = `
import json, yaml
from compose_spec import PyCompose
file = yaml.safe_load(open("deploy/compose/replicas/compose.yaml"))
PyCompose.from_yaml(json.dumps(file))
for name, service in file["services"].items():
    assert service["hostname"] == name, name
    assert service["restart"] == "unless-stopped" and service["healthcheck"], name
print(*file["services"])`
	out, err := does(t, filepath.Join(root(), ".venv/bin/python"), "-c", script)
	if err != nil {
		t.Fatalf("%s%v", out, err)
	}
	text := strings.Replace(read(t, "deploy/compose/replicas/voltbus.yaml"), "/run/secrets/cluster.key", replicaKey(t, t.TempDir()), 1)
	for name := range strings.FieldsSeq(out) {
		checked(t, named(text, name))
	}
}

func TestTheChartOfReplicasNamesThemAsTheirPods(t *testing.T) {
	validate, key := tool(t, "kubernetes-validate"), replicaKey(t, t.TempDir())
	for _, replicas := range []int{3, 5} {
		out, err := chart(t, "--set", fmt.Sprintf("replicas=%d,cluster.keySecret.name=plant-key", replicas))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "manifests.yaml")
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := does(t, validate, "--strict", "--kubernetes-version", "1.31", file); err != nil {
			t.Errorf("%s%v", said, err)
		}
		for _, want := range []string{
			"podManagementPolicy: Parallel", "publishNotReadyAddresses: true", "clusterIP: None", "secretName: plant-key", "maxUnavailable: 1",
			fmt.Sprint("replicas: ", replicas),
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
		text := strings.Replace(configured(t, out), "/run/secrets/voltbus/cluster.key", key, 1)
		for n := range replicas {
			checked(t, named(text, fmt.Sprint("plant-", n)))
		}
	}
}

// An autoscaler starts the fourth and the fifth replica, which have configurations that list themselves.
func TestTheChartStartsMoreReplicasByTheirClients(t *testing.T) {
	validate, key := tool(t, "kubernetes-validate"), replicaKey(t, t.TempDir())
	out, err := chart(t, "--set", "replicas=3,autoscaling.enabled=true,autoscaling.clients=4000")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "manifests.yaml")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := does(t, validate, "--strict", "--kubernetes-version", "1.31", file); err != nil {
		t.Errorf("%s%v", said, err)
	}
	for _, want := range []string{"kind: HorizontalPodAutoscaler", "name: voltbus_mqtt_clients", `averageValue: "4000"`, "/etc/voltbus/$(POD).yaml"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if regexp.MustCompile(`(?m)^  replicas: `).MatchString(out) {
		t.Error("the number of pods is the chart's, and not the autoscaler's")
	}
	for n := range 5 {
		name := fmt.Sprint("plant-", n)
		text := strings.Replace(configuredAs(t, out, name), "/run/secrets/voltbus/cluster.key", key, 1)
		if listed := strings.Count(text, "- {name: plant-"); listed != max(3, n+1) {
			t.Errorf("%s lists %d replicas", name, listed)
		}
		checked(t, named(text, name))
	}
	if _, err := chart(t, "--set", "autoscaling.enabled=true"); err == nil || !strings.Contains(err.Error(), "set replicas=3") {
		t.Errorf("a node alone is autoscaled: %v", err)
	}
}

// Three replicas run under Supervisor with the configuration of the Compose file. One is killed: the others record on, and it
// comes back and joins by itself, with what was recorded meanwhile.
func TestASupervisorStartsAKilledReplicaAgain(t *testing.T) {
	supervisord, bin, dir := tool(t, "supervisord"), program(t), t.TempDir()
	key, text := replicaKey(t, dir), read(t, "deploy/compose/replicas/voltbus.yaml")
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	port := func() string { return "127.0.0.1:" + peers.FreePort(t) }
	names := []string{"broker-1", "broker-2", "broker-3"}
	address := map[string]string{}
	for _, name := range names {
		address[name] = port()
	}
	conf := fmt.Sprintf("[supervisord]\nnodaemon=true\nlogfile=%s\npidfile=%s\n", filepath.Join(dir, "log"), filepath.Join(dir, "pid"))
	files := map[string]string{}
	for _, name := range names {
		is := strings.NewReplacer(
			`":8080"`, port(), `":8883"`, port(), `":6222"`, address[name], "/run/secrets/cluster.key", key, "/var/lib/voltbus", filepath.Join(dir, name),
			`"broker-1:6222"`, address["broker-1"], `"broker-2:6222"`, address["broker-2"], `"broker-3:6222"`, address["broker-3"],
		)
		files[name] = write(name+".yaml", is.Replace(named(text, name)))
		conf += strings.NewReplacer(
			"[program:voltbus]", "[program:"+name+"]", "/usr/local/bin/voltbus", bin, "/etc/voltbus/voltbus.yaml", files[name], "user=voltbus\n", "",
			"/var/log/voltbus.log", filepath.Join(dir, name+".log"), "startsecs=2", "startsecs=0",
		).Replace(read(t, "deploy/supervisor/voltbus.conf")) + "\n"
	}
	cmd := exec.Command(supervisord, "-c", write("supervisord.conf", conf))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	try := func(arguments ...string) {
		until(t, strings.Join(arguments, " "), func() error { _, err := does(t, bin, arguments...); return err })
	}
	for _, name := range names {
		try("health", "-c", files[name])
	}
	reading := func(name, minute string) string {
		return write(name, `[{"point":"plant/x","time":"2026-03-01T12:`+minute+`:00Z","value":21.5}]`)
	}
	try("import", "-c", files["broker-1"], reading("first.json", "00"))
	lock := filepath.Join(dir, "broker-2", "voltbus.lock")
	first := processAt(t, lock, 0)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	try("import", "-c", files["broker-3"], reading("second.json", "01"))
	processAt(t, lock, first)
	try("health", "-c", files["broker-2"])
	both := regexp.MustCompile(`Nothing was lost of ([2-9]|\d\d+) samples`) // more than 2 if an import without an answer was repeated
	until(t, "the replica has what was recorded while it was away", func() error {
		out, err := does(t, bin, "ledger", "-c", files["broker-2"])
		if err == nil && !both.MatchString(out) {
			err = errors.New(out)
		}
		return err
	})
}
