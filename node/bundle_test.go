package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/catalog"
	"voltbus/identity/registry"
	"voltbus/operation"
	"voltbus/operation/children"
	"voltbus/operation/nodelog"
	parentop "voltbus/operation/parent"
	"voltbus/uplink/bundle"
)

// bundled makes the node plant a child of a parent by a bundle, and returns the data directory in it.
func bundled(t *testing.T, parent *running) string {
	t.Helper()
	dir := t.TempDir()
	key, err := bundle.Key(dir, "plant")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), parent.Client, children.Add, client.NewChild{Name: "plant", Public: key.Public()}.Arguments()); err != nil {
		t.Fatal(err)
	}
	written(t, parent, dir)
	return filepath.Join(dir, "plant", "data")
}

// written writes the bundle of the node plant, which a parent knows.
func written(t *testing.T, parent *running, dir string) {
	t.Helper()
	door, err := client.Do(t.Context(), parent.Client, children.Reach, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	err = bundle.Write(dir, &bundle.Bundle{
		Parent: door.Node, Addresses: []string{parent.BusAddr()}, Fingerprint: door.Fingerprint, Authority: door.Authority, Name: "plant",
	}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
}

// started runs a node with copies of a bundle's files.
func started(t *testing.T, data string) *running {
	t.Helper()
	dir := t.TempDir()
	cfg := load(t, dir, listenNowhere)
	cfg.Node.Name = "plant"
	if err := os.MkdirAll(cfg.Node.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parent.json", "parent.nk"} {
		b, err := os.ReadFile(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(cfg.Node.Data, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return run(t, cfg)
}

func TestABundleThatWasNotUsedInTimeIsRefusedUntilItIsRenewed(t *testing.T) {
	dir := t.TempDir()
	key, err := bundle.Key(dir, "plant")
	if err != nil {
		t.Fatal(err)
	}
	cfg := load(t, t.TempDir(), listenAnywhere)
	cfg.Node.Name = "campus"
	provisioned(t, cfg.Node.Data, registry.Child{
		Name: "plant", Public: key.Public(), State: registry.ChildApproved, Expires: time.Now().Add(-time.Hour),
	})
	parent := run(t, cfg)
	if c, err := client.Do(t.Context(), parent.Client, children.Get, children.Node{Name: "plant"}); err != nil || c.State != "expired" || c.Expires == nil {
		t.Fatalf("the child is %+v, %v", c, err)
	}
	written(t, parent, dir)
	child := started(t, filepath.Join(dir, "plant", "data"))
	eventually(t, "the child hears why, and what to do", func() bool {
		p, err := client.Do(t.Context(), child.Client, parentop.Get, struct{}{})
		return err == nil && p.State == "expired" && strings.Contains(p.Why, "voltbus children approve plant")
	})
	eventually(t, "the parent has it in its audit log", func() bool {
		told := parent.told(client.AuditFilter{Action: "refused"})
		return len(told) == 1 && strings.HasPrefix(told[0], "child:plant") && strings.Contains(told[0], "connect with an expired bundle")
	})
	if _, err := parent.DecideChild(t.Context(), "plant", "approve"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is there, and does not expire any more", func() bool {
		c, err := client.Do(t.Context(), parent.Client, children.Get, children.Node{Name: "plant"})
		return err == nil && c.State == "approved" && c.Expires == nil && c.Keys == 2 && c.Online != nil
	})
	eventually(t, "the child knows it", func() bool {
		p, err := client.Do(t.Context(), child.Client, parentop.Get, struct{}{})
		return err == nil && p.State == "approved" && p.Why == ""
	})
	if told := parent.told(client.AuditFilter{Action: "refused"}); len(told) != 1 {
		t.Errorf("all that it tried is told as %q", told)
	}
}

// provisioned puts a child into the catalogue of a node that does not run.
func provisioned(t *testing.T, data string, c registry.Child) {
	t.Helper()
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	store, err := catalog.Open(t.Context(), data, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(store.PutChild(t.Context(), c, nil), store.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestABundleIsWorthNothingAfterItsNodeWasConnected(t *testing.T) {
	parent, _ := named(t, "campus", listenAnywhere)
	data := bundled(t, parent)
	first := started(t, data)
	eventually(t, "the node has a key of its own", func() bool {
		c, err := client.Do(t.Context(), parent.Client, children.Get, children.Node{Name: "plant"})
		return err == nil && c.Keys == 2 && c.Online != nil
	})
	eventually(t, "the node knows that", func() bool {
		b, err := os.ReadFile(filepath.Join(first.Config().Node.Data, "parent.json"))
		return err == nil && !strings.Contains(string(b), "bundled")
	})
	var anew time.Time
	eventually(t, "the node says why it connects twice", func() bool {
		said, err := client.Do(t.Context(), first.Client, nodelog.Read, nodelog.Lines{Level: client.Lines{Search: "made anew"}.Level, Search: client.Lines{Search: "made anew"}.Search, Since: operation.Time(client.Lines{Search: "made anew"}.Since), Limit: client.Lines{Search: "made anew"}.Limit})
		if err != nil || len(said.Entries) == 0 {
			return false
		}
		anew = said.Entries[0].Time
		return len(said.Entries) == 1 && said.Entries[0].Level == "info" && strings.Contains(string(said.Entries[0].Extra), "has a new key")
	})
	eventually(t, "the node is connected with it", func() bool {
		p, err := client.Do(t.Context(), first.Client, parentop.Get, struct{}{})
		return err == nil && p.Uplink.State == "connected" && p.Uplink.Since.After(anew)
	})
	if said, err := client.Do(t.Context(), first.Client, nodelog.Read, nodelog.Lines{Level: client.Lines{Level: "warning"}.Level, Search: client.Lines{Level: "warning"}.Search, Since: operation.Time(client.Lines{Level: "warning"}.Since), Limit: client.Lines{Level: "warning"}.Limit}); err != nil || len(said.Entries) > 0 {
		t.Errorf("it warns: %+v, %v", said.Entries, err)
	}

	second := started(t, data)
	eventually(t, "the second node of the bundle hears why it is refused", func() bool {
		p, err := client.Do(t.Context(), second.Client, parentop.Get, struct{}{})
		return err == nil && p.State == "revoked" && strings.Contains(p.Why, "was replaced by a new one")
	})
	eventually(t, "the parent has it in its audit log", func() bool {
		told := parent.told(client.AuditFilter{Action: "refused"})
		return len(told) > 0 && strings.HasPrefix(told[0], "child:plant") && strings.Contains(told[0], "connect with a replaced key")
	})
	if c, err := client.Do(t.Context(), parent.Client, children.Get, children.Node{Name: "plant"}); err != nil || c.Keys != 2 || c.Online == nil {
		t.Errorf("the first one is %+v, %v", c, err)
	}
}
