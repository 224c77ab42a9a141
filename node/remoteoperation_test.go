package node_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/configuration"
	"voltbus/operation/documents"
	"voltbus/operation/nodes"
	"voltbus/operation/processes"
)

// file is the configuration file of a node.
func (m *member) file() string { return filepath.Join(filepath.Dir(m.cfg.Node.Data), "voltbus.yaml") }

func (m *member) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(m.file())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hasTold reports whether the audit log of a node has an entry that begins so.
func (m *member) hasTold(action, begins string) bool {
	return slices.ContainsFunc(m.told(client.AuditFilter{Action: action}), func(line string) bool { return strings.HasPrefix(line, begins) })
}

const passErrands = "uplink: {allow: [\"call plant/node\"]}\n"

func TestANodeIsOperatedFromAboveOnlyAsItAllows(t *testing.T) {
	c := plantChain(t, map[string]string{
		"campus": passErrands,
		"plant":  "uplink: {allow: [\"call node:agent.list\", \"call node:document.set\", \"call node:document.get\", \"call node:agent.start\"]}\n",
	}, nil)
	plant := c.region.At("plant")
	if _, err := client.Do(wait(t), plant, processes.List, processes.Nothing{}); err != nil {
		t.Errorf("the region lists the agents of the plant: %v", err)
	}
	if _, err := plant.Operate(wait(t), "boiler", "start"); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "plant says: ") {
		t.Errorf("an agent is started that the plant does not have: %v", err)
	}
	if _, err := plant.Operate(wait(t), "boiler", "stop"); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "plant says: missing: call node:agent.stop") {
		t.Errorf("what the plant does not allow: %v", err)
	}
	if _, err := client.Do(wait(t), c.region.At("campus"), processes.List, processes.Nothing{}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "campus says: missing: call node:agent.list") {
		t.Errorf("what campus does not allow: %v", err)
	}
	if _, err := client.Do(wait(t), c.plant.At("region"), processes.List, processes.Nothing{}); !fault.Is(err, fault.Refused) {
		t.Errorf("a child operates its parent: %v", err)
	}
	if _, err := client.Do(wait(t), plant, documents.Set, client.NewDocument{Text: "most: 12\n", Type: "yaml", Note: "from afar"}.Arguments("shared", "limits")); err != nil {
		t.Fatal(err)
	}
	d, err := client.Do(wait(t), plant, documents.Get, documents.Version{Key: documents.Key{Owner: "shared", Name: "limits"}, Version: 0})
	if err != nil || d.Text == nil || *d.Text != "most: 12\n" || d.By != "person:region/admin" {
		t.Errorf("the document at the plant: %+v, %v", d, err)
	}
	for _, told := range []struct {
		at             *member
		action, begins string
	}{
		{&c.region, "document.set", "person:admin document.set ok"},
		{&c.campus, "node.pass", "person:region/admin node.pass ok"},
		{&c.plant, "document.set", "person:region/admin document.set ok"},
		{&c.plant, "node.answer", "person:region/admin node.answer ok"},
		{&c.region, "agent.stop", "person:admin agent.stop"},
		{&c.plant, "node.answer", "person:region/admin node.answer missing: call node:agent.stop"},
	} {
		awaitTrue(t, told.at.cfg.Node.Name+" tells its audit log "+told.begins, func() bool { return told.at.hasTold(told.action, told.begins) })
	}
}

func TestPeopleDoAtOtherNodesOnlyWhatTheirRoleAllowsHere(t *testing.T) {
	c := plantChain(t, map[string]string{"campus": "uplink: {allow: [administer]}\n", "plant": "uplink: {allow: [administer]}\n"}, nil)
	token, err := c.region.Issue(wait(t), identity.User{Name: "ada", Role: identity.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	viewer, err := client.New(c.region.HTTPAddr(), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), viewer.At("plant"), processes.List, processes.Nothing{}); err != nil {
		t.Errorf("a viewer lists agents: %v", err)
	}
	if _, err := viewer.At("plant").Operate(wait(t), "boiler", "stop"); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "operator") {
		t.Errorf("a viewer stops an agent: %v", err)
	}
	if _, err := configurationOf(t, viewer.At("plant")); !fault.Is(err, fault.Refused) {
		t.Errorf("a viewer reads the configuration: %v", err)
	}
	if _, err := viewer.CallNode(wait(t), "plant", "node", client.Call{Method: "config.get"}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "engineer") {
		t.Errorf("a viewer reads it by the call: %v", err)
	}
}

const errands = "uplink: {allow: [administer, \"call node:config.get\", \"call node:config.set\", \"call node:config.check\", \"call node:config.confirm\", \"call node:config.reload\"]}\n"

func TestAConfigurationIsPushedThroughTheTree(t *testing.T) {
	c := plantChain(t, map[string]string{"campus": "uplink: {allow: [administer]}\n", "plant": errands}, nil)
	plant := c.region.At("plant")
	now, err := configurationOf(t, plant)
	if err != nil || now.Text != c.plant.text(t) {
		t.Fatalf("the text at the plant: %+v, %v", now, err)
	}
	next := now.Text + "devices: {ahu1: {driver: sim, interval: 1h, count: 1}}\n"
	if _, err := setConfig(t, plant, next, "0123456789abcdef", 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("a change of another version: %v", err)
	}
	if _, err := setConfig(t, plant, "devices: 7\n", now.Version, 0); !fault.Is(err, fault.Invalid) {
		t.Errorf("a wrong text: %v", err)
	}
	if _, err := setConfig(t, plant, strings.Replace(next, "127.0.0.1:0", "127.0.0.1:1", 1), now.Version, 0); !fault.Is(err, fault.Rejected) || !strings.Contains(err.Error(), "listen") {
		t.Errorf("what needs a new start: %v", err)
	}
	applied, err := setConfig(t, plant, next, now.Version, time.Minute)
	if err != nil || !slices.Equal(applied.Changes.Added, []string{"ahu1"}) || c.plant.text(t) != next || len(c.plant.Config().Devices) != 1 {
		t.Errorf("the push: %+v, %v, %d devices", applied, err, len(c.plant.Config().Devices))
	}
	if err := confirmConfig(t, c.plant, applied.Version); !fault.Is(err, fault.NotFound) {
		t.Errorf("it was confirmed, and can be once more: %v", err)
	}
	awaitTrue(t, "both ends tell their audit logs", func() bool {
		return c.plant.hasTold("config.apply", "person:region/admin config.apply ok") && c.plant.hasTold("config.confirm", "person:region/admin config.confirm ok") &&
			c.region.hasTold("config.apply", "person:admin config.apply ok")
	})
	if err := os.WriteFile(c.plant.file(), []byte(now.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := reloadConfig(t, plant); err != nil || !slices.Equal(again.Changes.Removed, []string{"ahu1"}) {
		t.Errorf("the plant reads its file again: %+v, %v", again, err)
	}
	broken := "devices: 7\n"
	if err := os.WriteFile(c.plant.file(), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = setConfig(t, plant, next, revision.VersionOf([]byte(broken)), time.Minute)
	if !fault.Is(err, fault.Rejected) || !strings.Contains(err.Error(), "could not go back") || c.plant.text(t) != broken {
		t.Errorf("a push over a text to which the plant could not go back: %v", err)
	}
}

// The new configuration takes from those above the right to confirm it: they lose contact by it.
func TestANodeThatLosesContactByItsConfigurationGoesBackByItself(t *testing.T) {
	t.Parallel()
	const all = "uplink: {allow: [administer]}\n"
	c := plantChain(t, map[string]string{"campus": all, "plant": all}, nil)
	plant := c.region.At("plant")
	now, err := configurationOf(t, plant)
	if err != nil {
		t.Fatal(err)
	}
	locked := strings.Replace(now.Text, all, "uplink: {allow: []}\ndevices: {ahu1: {driver: sim, interval: 1h, count: 1}}\n", 1)
	_, err = setConfig(t, plant, locked, now.Version, 4*time.Second)
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "goes back by itself") {
		t.Errorf("the push says %v", err)
	}
	awaitTrue(t, "the plant goes back", func() bool { return c.plant.text(t) == now.Text && len(c.plant.Config().Devices) == 0 })
	awaitTrue(t, "its audit log says so", func() bool { return c.plant.hasTold("config.rollback", "node config.rollback ok") })
	if again, err := configurationOf(t, plant); err != nil || again.Version != now.Version {
		t.Errorf("it is reached again: %v", err)
	}
	eventually(t, "those above see it", func() bool {
		n, err := client.Do(wait(t), c.region.Client, nodes.Get, nodes.Name{Name: "plant"})
		return err == nil && strings.HasPrefix(n.Note, "went back to the configuration before at ")
	})
}

func TestANodeThatEndsDuringATrialStartsWithTheConfigurationBefore(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	m := member{run(t, cfg), cfg}
	before := m.text(t)
	next := before + "devices: {ahu1: {driver: sim, interval: 1h, count: 1}}\n"
	applied, err := setConfig(t, m, next, revision.VersionOf([]byte(before)), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := setConfig(t, m, next+"\n", applied.Version, 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("a change during a trial: %v", err)
	}
	m.halt()
	back, err := revision.Recover(m.file())
	if err != nil || back == nil || m.text(t) != before {
		t.Fatalf("%+v, %v, %q", back, err, m.text(t))
	}
	cfg, err = config.Load(m.file(), all.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	m = member{runBack(t, cfg, back), cfg}
	if !m.hasTold("config.rollback", "node config.rollback ok") {
		t.Errorf("its audit log has %q", m.told(client.AuditFilter{}))
	}
	eventually(t, "it says so", func() bool {
		n, err := client.Do(wait(t), m.Client, nodes.Get, nodes.Name{Name: "test"})
		return err == nil && strings.HasPrefix(n.Note, "went back")
	})
}

// write replaces the configuration file of a node.
func (m *member) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(m.file(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func versionOf(text string) string { return revision.VersionOf([]byte(text)) }

// clientOf returns the client of a node, or the client that it is given.
func clientOf(t *testing.T, c any) *client.Client {
	t.Helper()
	switch c := c.(type) {
	case *client.Client:
		return c
	case member:
		return c.Client
	case *running:
		return c.Client
	case *faulty:
		return c.Client
	case *scenes:
		return c.Client
	}
	t.Fatalf("%T has no client", c)
	return nil
}

func configurationOf(t *testing.T, c any) (answer.Config, error) {
	t.Helper()
	return client.Do(wait(t), clientOf(t, c), configuration.Get, configuration.Nothing{})
}

// setConfig changes a configuration; 0 is no bound for this node, and the usual one for another.
func setConfig(t *testing.T, c any, text, version string, bound time.Duration) (answer.ConfigApplied, error) {
	t.Helper()
	change := configuration.Change{Text: &text, Version: version}
	if seconds := bound.Seconds(); seconds > 0 {
		change.Confirm = &seconds
	}
	return client.Do(wait(t), clientOf(t, c), configuration.Apply, change)
}

func confirmConfig(t *testing.T, c any, version string) error {
	t.Helper()
	_, err := client.Do(wait(t), clientOf(t, c), configuration.Confirm, configuration.Trial{Version: version})
	return err
}

func reloadConfig(t *testing.T, c any) (answer.ConfigApplied, error) {
	t.Helper()
	return client.Do(wait(t), clientOf(t, c), configuration.Reload, configuration.Nothing{})
}
