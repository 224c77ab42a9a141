package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/identity"
)

// secretMark stands in every file that an engineer may not read.
const secretMark = "vbt_hunter2"

// secrets fills the folder of a configuration with what must not be shown, and links to it.
func secrets(t *testing.T, dir string) {
	t.Helper()
	outside := t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(dir, "secrets/plain"):             secretMark + "\n",
		filepath.Join(dir, "secrets/two.csv"):           secretMark + "," + secretMark + "\n" + secretMark + "\n",
		filepath.Join(dir, "secrets/rows.csv"):          "name,address,type\n" + secretMark + "," + secretMark + "," + secretMark + "\n",
		filepath.Join(dir, "secrets/quote.csv"):         "name\n\"" + secretMark + "\n",
		filepath.Join(dir, "secrets/key.yaml"):          secretMark + ": " + secretMark + "\n",
		filepath.Join(dir, "secrets/list.yaml"):         "- " + secretMark + ": " + secretMark + "\n- " + secretMark + "\n- {name: [" + secretMark + "]}\n",
		filepath.Join(dir, "secrets/anchor.yaml"):       "a: *" + secretMark + "\n",
		filepath.Join(dir, "secrets/device.yaml"):       "devices: {" + secretMark + ": {driver: " + secretMark + ", interval: " + secretMark + "}}\n",
		filepath.Join(dir, "secrets/modbus.yaml"):       "devices: {a: {driver: modbus, config: {address: a, parity: " + secretMark + ", registry: [{name: a, " + secretMark + ": 1, type: " + secretMark + "}]}}}\n",
		filepath.Join(dir, "secrets/pem"):               "-----BEGIN CERTIFICATE-----\n" + secretMark + "\n-----END CERTIFICATE-----\n",
		filepath.Join(outside, "shadow.yaml"):           secretMark + ": x\n",
		filepath.Join(dir, "data/agents/mole/work/.it"): "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"data/agents/mole/work/link.csv": "../../../admin.token", "data/agents/mole/work/out.yaml": filepath.Join(outside, "shadow.yaml"),
		"near.csv": "data/admin.token", "out.yaml": filepath.Join(outside, "shadow.yaml"), "kmsg.csv": "/proc/kmsg", "environ.csv": "/proc/self/environ",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
}

// fileAttacks are texts of an engineer that name the file.
var fileAttacks = map[string]string{
	"an included file":        "include: [%]\n",
	"a registry":              "devices: {x: {driver: modbus, config: {address: a, registry: %}}}\n",
	"a register map":          "devices: {x: {driver: modbus, config: {address: a, registry: [{name: a}], register_map: %}}}\n",
	"a registry of DNP3":      "devices: {x: {driver: dnp3, config: {address: a, registry: %}}}\n",
	"certificates":            "devices: {x: {driver: dnp3, config: {address: a, tls: {certificate: %, key: %, ca: %}}}}\n",
	"a registry by reference": "devices: {x: {driver: modbus, config: {address: a, registry: &f %, register_map: *f}}}\n",
}

func TestAttackAnEngineerReadsNoFileThroughTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere))
	secrets(t, dir)
	own, err := os.ReadFile(filepath.Join(dir, "voltbus.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	engineer, err := r.Node.Issue(context.Background(), identity.User{Name: "eve", Role: identity.Engineer})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		"/etc/passwd", "/proc/kmsg", "/proc/self/environ", "/dev/zero", "/etc/*", "*", "*/*", "data/*", "data/agents/*/work/*", "../*",
		"data/admin.token", filepath.Join(dir, "data/admin.token"), "data/agents/mole/work/link.csv", "data/agents/mole/work/out.yaml",
		"near.csv", "out.yaml", "kmsg.csv", "environ.csv", "secrets/*", "voltbus.yaml",
	}
	kept, err := os.ReadDir(filepath.Join(dir, "secrets"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range kept {
		names = append(names, "secrets/"+e.Name())
	}
	var told []string
	send := func(method, path string, body any) string {
		var out json.RawMessage
		p := r.call(engineer, method, path, body, &out)
		return string(out) + quoted(t, p)
	}
	token := r.token()
	for what, form := range fileAttacks {
		for _, name := range names {
			text := strings.ReplaceAll(form, "%", quoted(t, name))
			got := send("POST", "/config/check", m{"text": string(own) + text})
			if strings.Contains(got, "hunter") || strings.Contains(got, token) || strings.Contains(got, "root:") || strings.Contains(got, "PATH") {
				t.Errorf("%s %s shows a secret: %s", what, name, got)
			}
			told = append(told, got)
		}
	}
	for _, name := range names {
		for _, section := range []m{{"address": "a", "registry": name}, {"address": "a", "register_map": name}} {
			for _, got := range []string{
				send("POST", "/drivers/modbus/try", m{"config": section}),
				send("POST", "/devices", m{"path": "new", "driver": "modbus", "config": section}),
			} {
				if strings.Contains(got, "hunter") || strings.Contains(got, token) || strings.Contains(got, "root:") {
					t.Errorf("%s shows a secret: %s", name, got)
				}
			}
		}
	}
	if slices.Contains(told, "") {
		t.Error("a check was not answered")
	}
	if got := r.told(client.AuditFilter{Actor: "person:eve", Action: "config.check"}); !strings.Contains(strings.Join(got, "\n"), "person:eve config.check ok ") {
		t.Errorf("the audit log has of the engineer only %q", got)
	}
}

func TestAttackAnEngineerLearnsOfNoFileOfTheStore(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere))
	engineer, err := r.Node.Issue(context.Background(), identity.User{Name: "eve", Role: identity.Engineer})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/etc/shadow", "/etc/nothing"} {
		text := listenAnywhere + "store: {engine: postgres, url: 'postgres://a@b/c', password_file: " + name + "}\n"
		if p := r.call(engineer, "POST", "/config/check", m{"text": text}, nil); p.Kind != "refused" || strings.Contains(p.Detail, name) {
			t.Errorf("%s: the answer is %+v, want refused before the file is looked at", name, p)
		}
	}
}

// quoted is JSON.
func quoted(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
