package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/children"
	"voltbus/operation/parent"
	"voltbus/recorder"
)

// what a node does about a damaged file.
const (
	asideThen = "it is set aside, and the node starts"
	copyThen  = "its copy takes its place"
	refused   = "the node does not start, and says which command to run"
	byPart    = "the part that it belongs to sets it aside and tells of it, and the node starts"
	owned     = "the part that it belongs to does without it or writes it anew, and the node starts"
	joinAgain = "the node starts, and health says how to join again"
)

// stateFiles are all small files of a data directory, with what happens if one is damaged; a second word is for a
// directory in its place. docs/reference/state-files.md has the same table.
var stateFiles = map[string][2]string{
	"origin": {copyThen}, "origin.copy": {asideThen},
	"parent.json": {copyThen}, "parent.copy": {asideThen},
	"parent.nk": {joinAgain}, "parent.nk.next": {owned},
	"admin.token": {asideThen}, "node.nk": {refused}, "admin.nk": {refused},
	"uplink.json": {asideThen}, "mark.json": {asideThen}, "origins.json": {asideThen},
	"below.json": {asideThen}, "node.json": {owned, asideThen},
	"tls/ca.pem": {copyThen}, "tls/ca.key": {copyThen}, "tls/ca-copy.pem": {asideThen}, "tls/ca-copy.key": {asideThen},
	"tls/ca-endorsed.pem": {asideThen},
	"tls/server.pem":      {asideThen}, "tls/server.key": {asideThen},
	"audit.head": {owned, asideThen}, "audit.db": {byPart, asideThen}, "catalog.sqlite": {byPart, asideThen}, "control.db": {byPart, asideThen}, "alarms.db": {byPart, asideThen},
	"web-push.json":            {asideThen},
	"voltbus.lock":             {owned, refused},
	"agents/boiler/agent.json": {owned}, "agents/boiler/key.nk": {owned}, "agents/boiler/ca.pem": {owned},
	"agents/boiler/versions/1/program.json": {owned},
}

// secretFiles are secrets, which nobody else may be able to read.
var secretFiles = []string{"admin.token", "node.nk", "admin.nk", "tls/ca.key", "tls/ca-copy.key", "tls/server.key"}

// notSmall matches what is checked by itself, and by tests of its own: log, history, former configurations, archives,
// what agents and uploads keep, and what SQLite keeps beside a file.
var notSmall = regexp.MustCompile(`^(log|store|config|audit\.archive|agents/[^/]+/(versions/[^/]+/[^p]|work|log)|.*-(wal|shm)$)`)

// everyPart returns the data directory of a stopped node that used every part that keeps files: it has a parent, a
// child, an agent, documents, commands and accounts.
func everyPart(t *testing.T) string {
	t.Helper()
	campus, _ := named(t, "campus", listenAnywhere)
	plant, data := named(t, "plant", listenAnywhere+zones)
	leaf, _ := named(t, "leaf", listenNowhere+zones)
	ctx := context.Background()
	for _, pair := range [][2]*running{{campus, plant}, {plant, leaf}} {
		made, err := client.Do(ctx, pair[0].Client, children.Invite, client.NewInvitation{Approved: true, Prefix: "{name}"}.Arguments())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Do(ctx, pair[1].Client, parent.Join, parent.Code{Code: made.Code, Name: ""}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the leaf's readings are at the top", func() bool {
		for _, o := range campus.ledger().Origins {
			if strings.HasPrefix(o.Origin, "leaf~") && o.Acknowledged > 0 {
				return true
			}
		}
		return false
	})
	eventually(t, "the plant knows the ledger of the leaf, which it keeps", func() bool {
		return slices.ContainsFunc(plant.ledger().Nodes, func(n answer.LedgerNode) bool { return n.Node == "leaf" && n.State == "current" })
	})
	plant.person("ada", identity.Engineer)
	plant.tells(`{"push": {"contact": "mailto:shift@example.org"}}`)
	plant.record(numbers("p", 0, 3))
	plant.halt()
	folder := filepath.Join(data, "agents", "boiler")
	ca, err := os.ReadFile(filepath.Join(data, "tls", "ca.pem"))
	err = errors.Join(err, os.MkdirAll(filepath.Join(folder, "versions", "1"), 0o700),
		os.WriteFile(filepath.Join(folder, "agent.json"), []byte(`{"name":"boiler","version":1,"wanted":false,"program":{"args":["true"]}}`), 0o600),
		os.WriteFile(filepath.Join(folder, "versions", "1", "program.json"), []byte(`{"args":["true"]}`), 0o600),
		os.WriteFile(filepath.Join(folder, "ca.pem"), ca, 0o600),
		os.WriteFile(filepath.Join(data, "tls", "ca-endorsed.pem"), ca, 0o600),
		os.WriteFile(filepath.Join(data, "node.json"), []byte(`{"name":"plant"}`), 0o600), // as after a kill
		recorder.MarkFile(filepath.Join(data, "mark.json")).Write(recorder.Mark{Log: "x", Sequence: 1}))
	for _, key := range []string{filepath.Join(folder, "key.nk"), filepath.Join(data, "parent.nk.next")} {
		_, made := identity.OpenKey(key)
		err = errors.Join(err, made)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// damages are ways in which a file may be damaged.
var damages = []struct {
	name string
	do   func(file string, content []byte) error
}{
	{"truncated", func(file string, content []byte) error { return os.WriteFile(file, content[:len(content)/2], 0o600) }},
	{"empty", func(file string, _ []byte) error { return os.WriteFile(file, nil, 0o600) }},
	{"garbage", func(file string, _ []byte) error {
		return os.WriteFile(file, bytes.Repeat([]byte("\x00\xff\x07{]nonsense\n"), 40), 0o600)
	}},
	{"a directory", func(file string, content []byte) error {
		return errors.Join(os.Remove(file), os.Mkdir(file, 0o700), os.WriteFile(filepath.Join(file, "inside"), content, 0o600))
	}},
	{"readable by all", func(file string, _ []byte) error { return os.Chmod(file, 0o644) }},
}

func TestEveryDamagedStateFileIsSetAsideOrNamesTheCommand(t *testing.T) {
	t.Parallel()
	whole := everyPart(t)
	for name, does := range stateFiles {
		for _, damage := range damages {
			t.Run(name+" "+damage.name, func(t *testing.T) {
				dir := t.TempDir()
				cfg := load(t, dir, listenNowhere+zones)
				cfg.Node.Name = "plant"
				if err := os.CopyFS(cfg.Node.Data, os.DirFS(whole)); err != nil {
					t.Fatal(err)
				}
				keepPrivate(t, cfg.Node.Data)
				file := filepath.Join(cfg.Node.Data, filepath.FromSlash(name))
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := damage.do(file, content); err != nil {
					t.Fatal(err)
				}
				want := does[0]
				switch {
				case damage.name == "a directory" && does[1] != "":
					want = does[1]
				case damage.name == "empty" && does[0] == byPart:
					want = asideThen
				case damage.name == "readable by all":
					want = owned
					if slices.Contains(secretFiles, name) {
						want = refused
					}
					if strings.HasPrefix(name, "parent.nk") { // health says which command to run; asked when it connects
						want = ""
					}
				}
				n, err := open(cfg)
				if want == refused {
					if err == nil {
						_ = n.Close()
						t.Fatal("the node starts")
					}
					if text := err.Error(); !regexp.MustCompile(`(mv|chmod 600) '`).MatchString(text) || !strings.Contains(text, filepath.Base(name)) || strings.Contains(text, "\n") {
						t.Errorf("the error is %q", text)
					}
					return
				}
				if err != nil {
					t.Fatalf("the node does not start: %v", err)
				}
				r := runNode(t, n, cfg)
				r.checkDamage(name, want, content)
			})
		}
	}
}

// keepPrivate gives copied files the permissions of the originals, which os.CopyFS does not do fully.
func keepPrivate(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chmod(file, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkDamage compares what a node says of a damaged file with what it should do about it.
func (r *running) checkDamage(name, want string, content []byte) {
	r.t.Helper()
	h, err := r.Client.Health(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	state := ""
	for _, p := range h.Parts {
		if p.Name == "state" {
			state = p.Reason
		}
	}
	told := r.told(client.AuditFilter{Action: "state.damaged"})
	aside, err := filepath.Glob(filepath.Join(r.data(), filepath.FromSlash(name)) + ".damaged-*")
	if err != nil {
		r.t.Fatal(err)
	}
	switch want {
	case asideThen, copyThen:
		if len(aside) == 0 || len(told) != 1 || !strings.Contains(state, name+" was damaged") || !strings.Contains(state, ".damaged-") {
			r.t.Errorf("set aside are %q, health says %q, and the audit log %q", aside, state, told)
		}
		if now, err := os.ReadFile(filepath.Join(r.data(), filepath.FromSlash(name))); want == copyThen && (err != nil || !bytes.Equal(now, content)) {
			r.t.Errorf("in its place stands %q, %v", now, err)
		}
	case byPart:
		if len(aside) == 0 || !strings.Contains(state, name+" was damaged") || len(r.told(client.AuditFilter{})) < 2 {
			r.t.Errorf("set aside are %q, and health says %q", aside, state)
		}
	case joinAgain:
		if !strings.Contains(state, "voltbus leave") || len(told) != 0 {
			r.t.Errorf("health says %q, and the audit log %q", state, told)
		}
	case owned:
		if state != "" || len(told) != 0 {
			r.t.Errorf("health says %q, and the audit log %q", state, told)
		}
	}
}

func TestANewAuthorityOfANodeThatRanBeforeIsTold(t *testing.T) {
	r, data := named(t, "plant", listenNowhere)
	r.halt()
	if err := os.RemoveAll(filepath.Join(data, identity.TLSFolder)); err != nil {
		t.Fatal(err)
	}
	cfg := load(t, filepath.Dir(data), listenNowhere)
	cfg.Node.Name, cfg.Node.Data = "plant", data
	n, err := open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	again := runNode(t, n, cfg)
	if told := again.told(client.AuditFilter{Action: "state.authority"}); len(told) != 1 {
		t.Errorf("the audit log tells %q", told)
	}
}

func TestEverySmallStateFileHasAnAnswerToDamage(t *testing.T) {
	data := everyPart(t)
	found := map[string]bool{}
	err := filepath.WalkDir(data, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(data, file)
		if name = filepath.ToSlash(name); err != nil || e.IsDir() || notSmall.MatchString(name) {
			return err
		}
		found[name] = true
		if _, is := stateFiles[name]; !is {
			t.Errorf("%s is a file of which nobody has said what happens if it is damaged: add it to stateFiles, to package statefile if "+
				"the node can start without it, and to docs/reference/state-files.md", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "reference", "state-files.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range stateFiles {
		if !found[name] {
			t.Errorf("no part wrote %s: is it a file of today?", name)
		}
		if short := strings.Replace(name, "boiler", "NAME", 1); !bytes.Contains(page, fmt.Appendf(nil, "`%s`", short)) {
			t.Errorf("docs/reference/state-files.md does not name %s", short)
		}
	}
}
