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
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/auditlog"
	"voltbus/operation/nodes"
	"voltbus/testing/link"
)

const trialEnv = "VOLTBUS_TEST_TRIAL"

// trialChild runs the node of a configuration file as the program does, and prints where it is.
func trialChild(file string) {
	back, err := revision.Recover(file)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		fmt.Println("error", err)
		return
	}
	n, err := openBack(cfg, slog.New(slog.DiscardHandler), back)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("at", n.BusAddr(), n.HTTPAddr())
	fmt.Println("error", n.Run(context.Background()))
}

// killable is a node in a process of its own that has its configuration in a file.
type killable struct {
	*client.Client
	t    *testing.T
	cfg  *config.Config
	bus  string
	proc *exec.Cmd
}

// newKillable writes the configuration of a node. It starts nothing.
func newKillable(t *testing.T, name, text string) *killable {
	t.Helper()
	k := &killable{t: t, cfg: nodeOf(t, t.TempDir(), name, text)}
	if err := os.WriteFile(k.file(), []byte(strings.Replace(k.text(), "name: test", "name: "+name, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.kill)
	return k
}

func (k *killable) file() string {
	return filepath.Join(filepath.Dir(k.cfg.Node.Data), "voltbus.yaml")
}

func (k *killable) text() string {
	k.t.Helper()
	text, err := os.ReadFile(k.file())
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

func (k *killable) start() {
	k.t.Helper()
	k.proc = exec.CommandContext(k.t.Context(), os.Args[0])
	k.proc.Env = append(os.Environ(), trialEnv+"="+k.file())
	k.proc.Stderr = os.Stderr
	out, err := k.proc.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := k.proc.Start(); err != nil {
		k.t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	var http string
	if _, err := fmt.Sscanf(line, "at %s %s", &k.bus, &http); err != nil {
		k.t.Fatalf("the node says %q", line)
	}
	k.reach(http)
}

// reach makes the client of the node that listens at an address.
func (k *killable) reach(http string) {
	k.t.Helper()
	token, err := identity.ReadToken(filepath.Join(k.cfg.Node.Data, identity.AdminTokenFile))
	if err != nil {
		k.t.Fatal(err)
	}
	if k.Client, err = client.New(http, token, nil); err != nil {
		k.t.Fatal(err)
	}
}

// kill ends the node without a word, and waits until it is gone.
func (k *killable) kill() {
	if k.proc == nil {
		return
	}
	_ = k.proc.Process.Kill() // it may be gone
	_ = k.proc.Wait()
	k.proc = nil
}

// wentBack reports whether the node's audit log tells so many times that it went back.
func (k *killable) wentBack(times int) bool {
	k.t.Helper()
	page, err := client.Do(wait(k.t), k.Client, auditlog.List, client.AuditFilter{Action: "config.rollback"}.Page())
	return err == nil && len(page.Entries) == times && page.Entries[0].Outcome == "ok"
}

// The plant does not let those above confirm: so its trial lasts until it is killed, or they are.
func TestAKillDuringATrialBringsBackTheConfigurationBeforeAndBothEndsSaySo(t *testing.T) {
	t.Parallel()
	parent := newKillable(t, "campus", listenAnywhere)
	child := newKillable(t, "plant", listenAnywhere+"uplink: {allow: [\"call node:config.get\", \"call node:config.set\"]}\n")
	way := link.New(t)
	above, under := run(t, parent.cfg), run(t, child.cfg)
	way.Lead(above.BusAddr())
	below(t, above, under, way.Addr(), "campus/plant")
	above.halt()
	under.halt()
	parent.start()
	way.Lead(parent.bus)
	child.start()
	before := child.text()
	node := func() answer.Node {
		n, err := client.Do(wait(t), parent.Client, nodes.Get, nodes.Name{Name: "plant"})
		if err != nil {
			return answer.Node{}
		}
		return n
	}
	try := func(bound time.Duration) {
		t.Helper()
		eventually(t, "the plant answers", func() bool { // which is a moment after it is connected
			_, err := configurationOf(t, parent.At("plant"))
			return err == nil
		})
		next := before + "devices: {ahu1: {driver: sim, interval: 1h, count: 1}}\n"
		_, err := setConfig(t, parent.At("plant"), next, revision.VersionOf([]byte(before)), bound)
		if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "goes back by itself") {
			t.Fatalf("the campus says %v", err)
		}
		if child.text() != next {
			t.Fatalf("nothing is on trial: %q", child.text())
		}
	}
	// said waits until the campus shows a note that the plant went back, other than the one before.
	said := func(what, before string) (note string) {
		t.Helper()
		eventually(t, what, func() bool {
			note = node().Note
			return strings.HasPrefix(note, "went back to the configuration before at ") && note != before
		})
		return note
	}

	try(10 * time.Minute)
	child.kill()
	child.start()
	if child.text() != before || !child.wentBack(1) {
		t.Errorf("the plant was killed: %q", child.text())
	}
	first := said("the campus shows that the plant went back", "")

	try(6 * time.Second)
	parent.kill()
	eventually(t, "the plant goes back without the campus", func() bool { return child.text() == before && child.wentBack(2) })
	parent.start()
	way.Lead(parent.bus)
	said("the campus shows the second time when it is there again", first)
}
