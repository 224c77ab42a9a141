package agent

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"voltbus/agent/journal"
	"voltbus/agent/place"
	"voltbus/fault"
	"voltbus/identity"
)

// wheel makes a wheel of the files; entry is what it offers as an agent, "" for nothing.
func wheel(t *testing.T, name, version, entry string, files map[string]string) []byte {
	t.Helper()
	info := fmt.Sprintf("%s-%s.dist-info/", name, version)
	all := map[string]string{
		info + "METADATA": fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version),
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	if entry != "" {
		all[info+"entry_points.txt"] = "[voltbus.agent]\n" + entry + "\n"
	}
	record := ""
	maps.Copy(all, files)
	for file := range all {
		record += file + ",,\n"
	}
	all[info+"RECORD"] = record + info + "RECORD,,\n"
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	for file, text := range all {
		w, err := zw.Create(file)
		must(t, err)
		_, err = io.WriteString(w, text)
		must(t, err)
	}
	must(t, zw.Close())
	return b.Bytes()
}

// sdk is a wheel with the two commands of the SDK that the supervisor uses.
func sdk(t *testing.T) func() (string, []byte, error) {
	t.Helper()
	main := `import importlib, json, sys, time
module, _, name = sys.argv[2].partition(":")
agent = getattr(importlib.import_module(module), name)
if sys.argv[1] == "describe":
    print(json.dumps({"doc": agent.__doc__, "wants": getattr(agent, "wants", {}), "config_schema": None, "methods": []}))
else:
    print("running", agent.__doc__, flush=True)
    time.sleep(1000)
`
	content := wheel(t, "voltbus", "1.0", "", map[string]string{"voltbus/__init__.py": "", "voltbus/__main__.py": main})
	return func() (string, []byte, error) { return "voltbus-1.0-py3-none-any.whl", content, nil }
}

// upload packs a file as an installation sends it.
func packed(t *testing.T, files map[string][]byte) io.Reader {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	for name, content := range files {
		must(t, tw.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(content)), Mode: 0o600}))
		_, err := tw.Write(content)
		must(t, err)
	}
	must(t, tw.Close())
	must(t, zw.Close())
	return &b
}

// registry keeps identities in memory.
type registry struct {
	mu     sync.Mutex
	agents map[string]identity.Grants
	refuse func(name string) error // instead of admitting an agent; nil to admit it
}

func (r *registry) set(name string, g identity.Grants) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents[name] = g
}

func (r *registry) of(name string) *identity.Grants {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.agents[name]
	return &g
}

func (r *registry) Grants(_ context.Context, name string) (identity.Grants, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, ok := r.agents[name]
	if !ok {
		return g, fault.E("test", fault.NotFound, name, os.ErrNotExist)
	}
	return g, nil
}

func (r *registry) Admit(_ context.Context, name, _ string, change func(*identity.Grants) error) (bool, error) {
	if r.refuse != nil {
		return false, r.refuse(name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	g, known := r.agents[name]
	if change != nil {
		if err := change(&g); err != nil {
			return false, err
		}
	}
	r.agents[name] = g
	return !known, nil
}

func (r *registry) Forget(_ context.Context, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.agents, name)
	return nil
}

// installer runs a supervisor that can install.
func installer(t *testing.T) (*Supervisor, *registry) {
	t.Helper()
	cfg := config(dataDir(t))
	known := &registry{agents: map[string]identity.Grants{}}
	cfg.Install = Installing{Python: "/usr/bin/python3", UV: "off", SDK: sdk(t), Identities: known}
	if uv, err := filepath.Abs("../.venv/bin/uv"); err == nil {
		if _, err := os.Stat(uv); err == nil {
			cfg.Install.UV = uv
		}
	}
	s, _ := run(t, cfg)
	return s, known
}

func request(t *testing.T, version, code string) Request {
	t.Helper()
	content := wheel(t, "pkg", version, "watch = pkg:Watch", map[string]string{"pkg/__init__.py": code})
	return Request{
		Name: "watch", Grant: GrantNone, Priority: -1, By: "person:ada",
		Upload: packed(t, map[string][]byte{"source/pkg-" + version + "-py3-none-any.whl": content}),
	}
}

func TestTwoVersionsAndTheWayBack(t *testing.T) {
	s, known := installer(t)
	code := "class Watch:\n    %q\n    wants = {'publish': ['analysis/**']}\n"
	st, err := s.Install(t.Context(), request(t, "1.0", fmt.Sprintf(code, "first")))
	must(t, err)
	if st.Version != 1 || st.Program.Release != "1.0" || st.State != Stopped {
		t.Fatalf("%+v", st)
	}
	if g := known.agents["watch"]; len(g.Publish) != 0 {
		t.Errorf("it may %v without being asked", g)
	}
	_, err = s.Start(t.Context(), "watch", "x")
	must(t, err)
	printed(t, s, "watch", "running first")
	req := request(t, "2.0", fmt.Sprintf(code, "second"))
	req.Grant = GrantAll
	st, err = s.Install(t.Context(), req)
	must(t, err)
	printed(t, s, "watch", "running second")
	if g := known.agents["watch"]; st.Version != 2 || !slices.Equal(st.Previous, []int{1}) || len(g.Publish) != 1 {
		t.Errorf("%+v %v", st, g)
	}
	st, err = s.Rollback(t.Context(), "watch", "x", nil)
	must(t, err)
	if st.Version != 1 || len(st.Previous) != 0 {
		t.Errorf("%+v", st)
	}
	await(t, s, "watch", "back", func(st *Status) bool { return (st.State == Starting || st.State == Running) && st.Process.PID != 0 })
	if _, err := s.Rollback(t.Context(), "watch", "x", nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second way back: %v", err)
	}
	must(t, s.Remove(t.Context(), Removal{Name: "watch", By: "x"}))
	if len(known.agents) != 0 {
		t.Error("its identity is left")
	}
}

func TestAFailedInstallationLeavesNothingAndSaysWhy(t *testing.T) {
	s, known := installer(t)
	good := "class Watch:\n    'doc'\n"
	tests := []struct {
		name   string
		req    func() Request
		kind   fault.Kind
		sorted string
	}{
		{"a syntax error", func() Request { return request(t, "1.0", "class Watch:\n    x = = 1\n") }, fault.Invalid, "pkg/__init__.py:2: invalid syntax"},
		{"a missing dependency", func() Request { return request(t, "1.0", "import absent_thing\n"+good) }, fault.Invalid, "needs the module 'absent_thing'"},
		{"no such class", func() Request { return request(t, "1.0", "x = 1\n") }, fault.Invalid, "cannot be imported"},
		{"a wrong grant", func() Request { return request(t, "1.0", good+"    wants = {'publish': ['a**']}\n") }, fault.Invalid, "publish"},
		{"an unknown kind of grant", func() Request { return request(t, "1.0", good+"    wants = {'publish': 7}\n") }, fault.Invalid, "cannot be read"},
		{"wants that nobody allowed", func() Request {
			r := request(t, "1.0", good+"    wants = {'record': ['a/**']}\n")
			r.Grant = GrantRefuse
			return r
		}, fault.Refused, `{"record":["a/**"]}`},
		{"no agent", func() Request {
			r := request(t, "1.0", good)
			r.Upload = packed(t, map[string][]byte{"source/pkg-1.0-py3-none-any.whl": wheel(t, "pkg", "1.0", "", map[string]string{"pkg/__init__.py": good})})
			return r
		}, fault.Invalid, "it has no agent"},
		{"a wrong name", func() Request { r := request(t, "1.0", good); r.Name = "../x"; return r }, fault.Invalid, "is not a name"},
		{"no archive", func() Request { r := request(t, "1.0", good); r.Upload = strings.NewReader("x"); return r }, fault.Invalid, "no compressed tar"},
		{"an archive that unpacks to more than the disk should take", func() Request {
			r := request(t, "1.0", good)
			r.Upload = packed(t, map[string][]byte{"source/pkg-1.0.zip": bomb(t)})
			return r
		}, fault.Invalid, "unpacks to more than 1024 MiB"},
		{"a link in the place of the package", func() Request {
			r := request(t, "1.0", good)
			r.Upload = linked(t)
			return r
		}, fault.Invalid, "not expected"},
		{"a whole path in an archive", func() Request {
			r := request(t, "1.0", good)
			r.Upload = packed(t, map[string][]byte{"source/pkg-1.0.tar.gz": slip(t, filepath.Join(string(s.dir), "..", "evil"))})
			return r
		}, fault.Invalid, "pkg-1.0.tar.gz"},
		{"a file elsewhere", func() Request {
			r := request(t, "1.0", good)
			r.Upload = packed(t, map[string][]byte{"source/../../evil": []byte("x")})
			return r
		}, fault.Invalid, "not expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Install(t.Context(), tt.req())
			if !fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.sorted) {
				t.Errorf("got %v", err)
			}
			if left, err := os.ReadDir(string(s.dir)); err != nil || len(left) != 0 || len(known.agents) != 0 {
				t.Errorf("left: %v %v %v", left, known.agents, err)
			}
			if _, err := os.Lstat(filepath.Join(string(s.dir), "..", "evil")); err == nil {
				t.Error("it wrote elsewhere")
			}
		})
	}
}

// bomb is a small archive of 1.5 GB.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	zeros := make([]byte, 50<<20)
	for i := range 30 {
		w, err := zw.Create(fmt.Sprintf("pkg/%d", i))
		must(t, err)
		_, err = w.Write(zeros)
		must(t, err)
	}
	must(t, zw.Close())
	return b.Bytes()
}

// linked is an upload with a link to a file of the node.
func linked(t *testing.T) io.Reader {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	must(t, tw.WriteHeader(&tar.Header{Name: "source/pkg-1.0.zip", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}))
	must(t, tw.Close())
	must(t, zw.Close())
	return &b
}

// slip is an archive with a link out of it, and a file behind the link and one with a whole path.
func slip(t *testing.T, target string) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	must(t, tw.WriteHeader(&tar.Header{Name: "pkg/out", Typeflag: tar.TypeSymlink, Linkname: filepath.Dir(target)}))
	for _, name := range []string{"pkg/out/evil", "../../../../evil", target} {
		must(t, tw.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1, Mode: 0o600}))
		_, err := tw.Write([]byte("x"))
		must(t, err)
	}
	must(t, tw.Close())
	must(t, zw.Close())
	return b.Bytes()
}

func TestWhatAnAgentRunsIsNotItsOwnToChange(t *testing.T) {
	s, _ := installer(t)
	code := `class Watch:
    "doc"
import os, sys
if sys.argv[1] == "run":
    for name in (__file__, sys.executable, os.environ["VOLTBUS_KEY"] + "/../agent.json"):
        try:
            open(name, "a").close()
            print("changes", name, flush=True)
        except OSError:
            pass
    print("looked", os.path.exists(os.environ["VOLTBUS_KEY"]), flush=True)
`
	_, err := s.Install(t.Context(), request(t, "1.0", code))
	must(t, err)
	_, err = s.Start(t.Context(), "watch", "x")
	must(t, err)
	if line := printed(t, s, "watch", "looked"); line != "looked True" {
		t.Error(line)
	}
	j, err := s.Logs("watch")
	must(t, err)
	changed, err := j.Search(journal.Filter{Text: "changes"})
	if err != nil || len(changed) != 0 {
		t.Errorf("%v %v", changed, err)
	}
}

func TestAnInstallationThatACrashCutShortIsForgotten(t *testing.T) {
	data := dataDir(t)
	p := place.Place(filepath.Join(data, place.Agents, "half"))
	must(t, os.MkdirAll(p.Version(1), 0o700))
	s, _ := run(t, config(data))
	if list := s.List(); len(list) != 0 {
		b, _ := json.Marshal(list)
		t.Errorf("%s", b)
	}
	if _, err := os.Stat(string(p)); !os.IsNotExist(err) {
		t.Error("its folder is left")
	}
}
