package bundle_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"voltbus/deploy/systemd"
	"voltbus/identity/pki"
	"voltbus/uplink/bundle"
	"voltbus/uplink/enrol"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	must(t, err)
	return string(b)
}

// written writes the bundle of a node and returns where.
func written(t testing.TB, dir, name string) *bundle.Bundle {
	t.Helper()
	certs, err := pki.Open(filepath.Join(t.TempDir(), "tls"), "campus", nil, time.Now)
	must(t, err)
	_, err = bundle.Key(dir, name)
	must(t, err)
	b := &bundle.Bundle{
		Parent: "campus", Addresses: []string{"campus.example:4222"}, Fingerprint: certs.Fingerprint(), Authority: certs.Authority(),
		Name: name, Prefix: "region/plant",
	}
	must(t, bundle.Write(dir, b, time.Now()))
	return b
}

// cloudConfig has the keys of cloud-init that a bundle may use, and their types, as its schema has them.
type cloudConfig struct {
	Users      []yaml.Node `yaml:"users"`
	WriteFiles []struct {
		Path        string `yaml:"path"`
		Permissions string `yaml:"permissions"`
		Owner       string `yaml:"owner"`
		Defer       bool   `yaml:"defer"`
		Encoding    string `yaml:"encoding"`
		Content     string `yaml:"content"`
	} `yaml:"write_files"`
	RunCommands [][]string `yaml:"runcmd"`
}

func TestTheCloudConfigPutsEverythingInItsPlace(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, "plant")
	text := read(t, dir, "plant", "cloud-init", "user-data")
	if !strings.HasPrefix(text, "#cloud-config\n") {
		t.Errorf("begins with %.20q", text)
	}
	var c cloudConfig
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	must(t, d.Decode(&c))
	want := map[string]string{
		"/etc/voltbus/voltbus.yaml":           "0640 root:voltbus\n" + read(t, dir, "plant", "service.yaml"),
		"/var/lib/voltbus/parent.json":        "0600 voltbus:voltbus\n" + read(t, dir, "plant", "data", "parent.json"),
		"/var/lib/voltbus/parent.nk":          "0600 voltbus:voltbus\n" + read(t, dir, "plant", "data", "parent.nk"),
		"/etc/systemd/system/voltbus.service": "0644 root:root\n" + systemd.Unit,
	}
	for _, f := range c.WriteFiles {
		content, err := base64.StdEncoding.DecodeString(f.Content)
		must(t, err)
		if got := f.Permissions + " " + f.Owner + "\n" + string(content); got != want[f.Path] || f.Encoding != "b64" || !f.Defer {
			t.Errorf("%s: %s; want %s", f.Path, got, want[f.Path])
		}
		delete(want, f.Path)
	}
	if len(want) > 0 {
		t.Errorf("not put there: %v", want)
	}
	if n := len(c.RunCommands); n == 0 || !slices.Equal(c.RunCommands[n-1], []string{"systemctl", "enable", "--now", "voltbus.service"}) {
		t.Errorf("runs %v", c.RunCommands)
	}
}

func TestOnlyItsOwnerReadsABundle(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, "plant")
	must(t, bundle.Shared(dir))
	must(t, bundle.WriteInventory(dir, []bundle.Host{{Name: "plant"}}))
	must(t, filepath.WalkDir(filepath.Join(dir, "plant"), func(path string, e os.DirEntry, err error) error {
		if info, ierr := e.Info(); err == nil && ierr == nil && !e.IsDir() && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	}))
}

func TestABundleWhoseNodeHasAKeyOfItsOwnStays(t *testing.T) {
	dir := t.TempDir()
	b := written(t, dir, "plant")
	p, err := enrol.OpenParent(filepath.Join(dir, "plant", "data"), time.Now)
	must(t, err)
	m, _ := p.Current()
	if !m.Bundled {
		t.Fatalf("the membership %+v keeps the bundle's key", m)
	}
	m.Bundled, m.Parent = false, "renamed"
	must(t, p.Put(m))
	must(t, bundle.Write(dir, b, time.Now()))
	if after := read(t, dir, "plant", "data", "parent.json"); !strings.Contains(after, "renamed") || strings.Contains(after, "bundled") {
		t.Errorf("the membership is %s", after)
	}
}

func TestTheInventoryKeepsWhatWasAdded(t *testing.T) {
	dir := t.TempDir()
	must(t, bundle.WriteInventory(dir, []bundle.Host{{Name: "one", Host: "10.0.0.1", Labels: map[string]string{"site": "north"}}}))
	edited := strings.Replace(read(t, dir, "hosts.yaml"), "ansible_host: 10.0.0.1", "ansible_host: one.example\n            ansible_user: pi", 1)
	must(t, os.WriteFile(filepath.Join(dir, "hosts.yaml"), []byte(edited+"other:\n    vars:\n        a: 1\n    hosts: {}\n"), 0o600))
	must(t, bundle.WriteInventory(dir, []bundle.Host{{Name: "one"}, {Name: "two"}}))
	var got map[string]struct {
		Hosts map[string]map[string]any
		Vars  map[string]any
	}
	must(t, yaml.Unmarshal([]byte(read(t, dir, "hosts.yaml")), &got))
	one, two := got["voltbus"].Hosts["one"], got["voltbus"].Hosts["two"]
	if one["ansible_host"] != "one.example" || one["ansible_user"] != "pi" || one["voltbus_labels"] == nil || got["other"].Vars["a"] != 1 {
		t.Errorf("what was there: %+v", got)
	}
	if two["voltbus_bundle"] != "{{ inventory_dir }}/two" {
		t.Errorf("the new one: %v", two)
	}
	must(t, os.WriteFile(filepath.Join(dir, "hosts.yaml"), []byte("- list\n"), 0o600))
	if err := bundle.WriteInventory(dir, nil); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("another file: %v", err)
	}
}

func TestThePlaybookUsesWhatTheFolderHas(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, "plant")
	must(t, bundle.Shared(dir))
	var plays []struct {
		Name   string
		Hosts  string
		Become bool
		Vars   map[string]string
		Tasks  []map[string]any
	}
	d := yaml.NewDecoder(strings.NewReader(read(t, dir, "playbook.yaml")))
	d.KnownFields(true)
	must(t, d.Decode(&plays))
	if len(plays) != 1 || plays[0].Hosts != "voltbus" || !plays[0].Become {
		t.Fatalf("the plays: %+v", plays)
	}
	words := []string{"name", "register", "loop", "when", "no_log"}
	for _, task := range plays[0].Tasks {
		modules := 0
		for key, value := range task {
			if slices.Contains(words, key) {
				continue
			}
			modules++
			if !strings.HasPrefix(key, "ansible.builtin.") {
				t.Errorf("%v: %s is not part of ansible-core", task["name"], key)
			}
			args, _ := value.(map[string]any)
			if src, ok := args["src"].(string); ok {
				fits(t, dir, src)
			}
		}
		if modules != 1 || task["name"] == nil {
			t.Errorf("the task %v has %d modules", task, modules)
		}
	}
	if read(t, dir, "voltbus.service") != systemd.Unit {
		t.Error("the unit is another one")
	}
}

// fits checks that what a task copies is there.
func fits(t *testing.T, dir, src string) {
	t.Helper()
	for _, item := range []string{"parent.nk", "parent.json"} {
		path := strings.NewReplacer(
			"{{ playbook_dir }}", dir, "{{ voltbus_bundle }}", filepath.Join(dir, "plant"), "{{ item }}", item,
			"{{ voltbus_program }}", dir, // said by who runs it
		).Replace(src)
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}
