package docs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"voltbus/testing/peers"
)

// tool returns a program of testing/peers/deploy.txt, or Helm. Where it is not there, the test is skipped, loudly.
func tool(t *testing.T, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root(), map[bool]string{true: "build/tools/helm-*", false: ".venv/bin/" + name}[name == "helm"]))
	if err != nil || len(found) == 0 {
		t.Skipf("NOT TESTED: %s is not there: run `make deploy-tools`", name)
	}
	return found[len(found)-1]
}

// does runs a program in the root of the repository, and returns what it writes.
func does(t *testing.T, name string, arguments ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, arguments...)
	cmd.Dir = root()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said.String())
	}
	return string(out), err
}

func TestTheContainerfilePassesItsLinter(t *testing.T) {
	if out, err := does(t, tool(t, "hadolint"), "deploy/image/Containerfile"); err != nil || out != "" {
		t.Errorf("%s%v", out, err)
	}
	for _, source := range regexp.MustCompile(`(?m)^COPY .*?([^ ]+) [^ ]+$`).FindAllStringSubmatch(read(t, "deploy/image/Containerfile"), -1) {
		if _, err := os.Stat(filepath.Join(root(), source[1])); err != nil && source[1] != "bin/voltbus" { // which make build writes
			t.Errorf("the image copies %s: %v", source[1], err)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(), file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checked has the program check a configuration.
func checked(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "voltbus.yaml")
	text = strings.ReplaceAll(text, "/var/lib/voltbus", filepath.Join(filepath.Dir(file), "data"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := does(t, program(t), "check", "-c", file); err != nil {
		t.Errorf("the configuration is wrong: %s%v\n%s", out, err, text)
	}
}

func TestTheComposeFileIsWhatItsSchemaSays(t *testing.T) {
	tool(t, "hadolint") // comes with the same list
	const script = `import sys; from compose_spec import PyCompose; PyCompose.from_yaml(open("deploy/compose/compose.yaml").read())`
	if out, err := does(t, filepath.Join(root(), ".venv/bin/python"), "-c", script); err != nil {
		t.Errorf("%s%v", out, err)
	}
	checked(t, read(t, "deploy/compose/voltbus.yaml"))
}

// chart renders the chart.
func chart(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	return does(t, tool(t, "helm"), append([]string{"template", "plant", "deploy/helm/voltbus", "--kube-version", "1.31.0"}, arguments...)...)
}

// configured returns the configuration in rendered manifests.
func configured(t *testing.T, manifests string) string {
	t.Helper()
	return configuredAs(t, manifests, "voltbus")
}

// configuredAs returns one of several configurations in rendered manifests.
func configuredAs(t *testing.T, manifests, name string) string {
	t.Helper()
	_, text, is := strings.Cut(manifests, "  "+name+".yaml: |\n")
	if !is {
		t.Fatalf("there is no configuration in\n%s", manifests)
	}
	text, _, _ = strings.Cut(text, "\n---")
	text, _, _ = strings.Cut(text, ".yaml: |\n")
	if end := strings.LastIndex(text, "\n  "); !strings.HasPrefix(text[end+3:], " ") {
		text = text[:end]
	}
	return strings.ReplaceAll(text, "\n    ", "\n")[4:]
}

func TestTheChartRendersManifestsThatKubernetesTakes(t *testing.T) {
	if out, err := does(t, tool(t, "helm"), "lint", "--strict", "--kube-version", "1.31.0", "deploy/helm/voltbus"); err != nil {
		t.Fatalf("%s%v", out, err)
	}
	validate := tool(t, "kubernetes-validate")
	for name, arguments := range map[string][]string{
		"as it is":         nil,
		"within a cluster": {"--set", "mqtts.service.type=ClusterIP,disruptionBudget.blockEviction=true,storage.className=fast"},
		"with much beside": {"--set-json", `nodeSelector={"disk":"ssd"}`, "--set-json", `tolerations=[{"key":"x","operator":"Exists"}]`, "--set-json", `image.pullSecrets=[{"name":"s"}]`, "--set-json", `podAnnotations={"a":"b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := chart(t, arguments...)
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
			checked(t, configured(t, out))
		})
	}
	out, err := chart(t, "--set", "monitoring.enabled=true")
	if err != nil || !strings.Contains(out, "kind: ServiceMonitor") {
		t.Errorf("the monitor is missing: %v", err)
	}
}

func TestTheChartSaysWhichValuesAreWrong(t *testing.T) {
	for set, want := range map[string]string{
		"replicas=2": "/replicas", "config.cluster.listen=off": "/config", "cluster.keySecret.name=": "/cluster/keySecret/name", "config.listen.http=off": "/config", "mqtts.port=0": "/mqtts/port", "storage.size=big": "/storage/size", "colour=red": "colour",
	} {
		if _, err := chart(t, "--set", set); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), ".", "/"), want) {
			t.Errorf("--set %s: %v", set, err)
		}
	}
}

// A node under Supervisor is killed; it is there again by itself, with the same data.
func TestASupervisorStartsAKilledNodeAgain(t *testing.T) {
	supervisord, bin, dir := tool(t, "supervisord"), program(t), t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	address := "127.0.0.1:" + peers.FreePort(t)
	file := write("voltbus.yaml", "node: {name: plant, data: data}\nlisten: {http: \""+address+"\", bus: \"off\"}\n")
	unit := strings.NewReplacer(
		"/usr/local/bin/voltbus", bin, "/etc/voltbus/voltbus.yaml", file, "user=voltbus\n", "", "/var/log/voltbus.log", filepath.Join(dir, "node.log"),
		"startsecs=2", "startsecs=0",
	).Replace(read(t, "deploy/supervisor/voltbus.conf"))
	conf := write("supervisord.conf", fmt.Sprintf("[supervisord]\nnodaemon=true\nlogfile=%s\npidfile=%s\n%s", filepath.Join(dir, "log"), filepath.Join(dir, "pid"), unit))
	cmd := exec.Command(supervisord, "-c", conf)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	lock := filepath.Join(dir, "data", "voltbus.lock")
	first := processAt(t, lock, 0)
	readings := write("readings.json", `[{"point":"plant/x","time":"2026-03-01T12:00:00Z","value":21.5}]`)
	for _, do := range [][]string{{"health", "-c", file}, {"import", "-c", file, readings}} {
		until(t, strings.Join(do, " "), func() error { _, err := does(t, bin, do...); return err })
	}
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if second := processAt(t, lock, first); second == first {
		t.Error("the node was not started again")
	}
	until(t, "the node has what was recorded", func() error {
		out, err := does(t, bin, "ledger", "-c", file)
		if err == nil && !strings.Contains(out, "Nothing was lost of 1 sample") {
			err = errors.New(out)
		}
		return err
	})
}

// processAt returns the process that has a lock file, as soon as it is another one than before.
func processAt(t *testing.T, lock string, before int) (pid int) {
	t.Helper()
	until(t, "a node runs", func() error {
		text, err := os.ReadFile(lock)
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid == before {
			err = errors.New("it is still the process before")
		}
		return err
	})
	return pid
}

// until tries something again and again, until it succeeds.
func until(t *testing.T, what string, try func() error) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s: %v", what, err)
		}
	}
}
