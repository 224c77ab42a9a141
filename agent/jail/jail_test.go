package jail

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"voltbus/agent/process"
)

// The test program plays the process that becomes another.
func TestMain(m *testing.M) {
	if text := os.Getenv("JAIL_SPEC"); text != "" {
		var s Spec
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			panic(err)
		}
		env := []string{"PATH=/usr/bin:/bin"}
		if more := os.Getenv("JAIL_ENV"); more != "" {
			env = append(env, more)
		}
		fmt.Fprint(os.Stderr, s.Exec(env))
		os.Exit(125)
	}
	switch {
	case os.Getenv("JAIL_ATTACK") != "":
		attack()
		os.Exit(0)
	case os.Getenv("JAIL_LIVE") != "":
		if err := live(); err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var systemNames = []string{"/usr", "/bin", "/lib", "/lib64", "/etc", "/proc"}

// shell runs a script in the jail.
func shell(t *testing.T, s Spec, script string) (string, error) {
	t.Helper()
	s.Args = []string{"/bin/sh", "-c", script}
	if s.Dir == "" {
		s.Dir = "/"
	}
	spec, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "JAIL_SPEC="+string(spec))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

func needLandlock(t *testing.T) {
	t.Helper()
	if Version() == 0 {
		t.Skip("this kernel has no Landlock")
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAttackLandlockHidesAllButTheOwnFolders(t *testing.T) {
	needLandlock(t)
	data := t.TempDir()
	own, other := filepath.Join(data, "agents/a"), filepath.Join(data, "agents/b")
	write(t, filepath.Join(own, "key"), "mine")
	write(t, filepath.Join(own, "work/file"), "mine")
	write(t, filepath.Join(other, "key"), "theirs")
	write(t, filepath.Join(data, "node.nk"), "the node's")
	neighbour := exec.Command("/bin/sleep", "1000")
	if err := neighbour.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = neighbour.Process.Kill(); _ = neighbour.Wait() }()
	write(t, filepath.Join(own, "neighbour"), strconv.Itoa(neighbour.Process.Pid))
	s := Spec{Landlock: true, Read: append(slices.Clone(systemNames), own), Write: []string{filepath.Join(own, "work")}, Dir: filepath.Join(own, "work")}
	tests := []struct {
		name, script string
		allowed      bool
	}{
		{"its own key can be read", "cat ../key", true},
		{"its own key cannot be written", "echo x >../key", false},
		{"nothing can be made beside its folder", "echo x >../new", false},
		{"its folder can be written", "echo x >file && mkdir d && mv file d/", true},
		{"another's key cannot be read", "cat " + other + "/key", false},
		{"another's folder cannot be listed", "ls " + other, false},
		{"the node's key cannot be read", "cat " + data + "/node.nk", false},
		{"the data directory cannot be listed", "ls " + data, false},
		{"a link into what is hidden does not help", "ln -s " + data + "/node.nk l && cat l", false},
		{"nothing can be written to the system", "echo x >/usr/new", false},
		{"the empty device works", "echo x >/dev/null", true},
		{"the parent gets no signal", "kill -0 $PPID", Version() < 6},
		{"the environment of the parent cannot be read", "cat /proc/$PPID/environ", false},
		{"nor what it has in memory, which is what a debugger needs", "cat /proc/$PPID/maps", false},
		{"nor which files it has open", "readlink /proc/$PPID/fd/0", false},
		{"the environment of another program of the same user cannot be read", "cat /proc/$(cat ../neighbour)/environ", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if out, err := shell(t, s, tt.script); (err == nil) != tt.allowed {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func TestWhatIsHiddenStaysHiddenBelowAFolderThatIsShown(t *testing.T) {
	needLandlock(t)
	root := t.TempDir()
	write(t, filepath.Join(root, "lib/code"), "code")
	write(t, filepath.Join(root, "var/data/secret"), "secret")
	write(t, filepath.Join(root, "var/log"), "log")
	write(t, filepath.Join(root, "var/data/own"), "own")
	s := Spec{
		Landlock: true, Read: append(slices.Clone(systemNames), root),
		Hide: filepath.Join(root, "var/data"), Show: []string{filepath.Join(root, "var/data/own")},
	}
	if out, err := shell(t, s, "cat "+root+"/var/data/own"); err != nil || out != "own" {
		t.Errorf("what is shown of it: %v %s", err, out)
	}
	if out, err := shell(t, s, "cat "+root+"/lib/code "+root+"/var/log"); err != nil || out != "codelog" {
		t.Errorf("what lies beside it: %v %s", err, out)
	}
	if out, err := shell(t, s, "cat "+root+"/var/data/secret"); err == nil {
		t.Errorf("the secret: %s", out)
	}
}

func TestAUserOfItsOwn(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change the user")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "secret"), "secret")
	s := Spec{User: &User{UID: 64901, GID: 64902}}
	out, err := shell(t, s, "id -u; id -g; id -G; umask")
	if err != nil || strings.Join(strings.Fields(out), " ") != "64901 64902 64902 0077" {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := shell(t, s, "cat "+dir+"/secret"); err == nil {
		t.Errorf("another's file: %s", out)
	}
	if out, err := shell(t, s, "kill -0 $PPID"); err == nil {
		t.Errorf("a signal to the parent: %s", out)
	}
}

func TestBoundsHold(t *testing.T) {
	out, err := shell(t, Spec{Files: 33, Data: 1 << 30, Nice: 7}, "ulimit -n; ulimit -d; nice; ulimit -c; grep -E 'NoNewPrivs|CapPrm|CapEff' /proc/self/status")
	if err != nil || strings.Join(strings.Fields(out), " ") != "33 1048576 7 0 CapPrm: 0000000000000000 CapEff: 0000000000000000 NoNewPrivs: 1" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAttackAForkBombHitsItsBound(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only a user of its own is bounded")
	}
	out, err := shell(t, Spec{User: &User{UID: 64903, GID: 64903}, Processes: 20}, "for i in $(seq 60); do sleep 20 >/dev/null 2>&1 & done; echo all")
	if err == nil || strings.Contains(out, "all") || !strings.Contains(out, "fork") {
		t.Errorf("%v: %s", err, out)
	}
	process.EndUser(64903)
}

func TestAttackAFileCannotGrowBeyondItsBound(t *testing.T) {
	dir := t.TempDir()
	out, err := shell(t, Spec{FileSize: 1 << 20, Dir: dir}, "head -c 5000000 /dev/zero >big; wc -c <big")
	if size := strings.Fields(out); len(size) == 0 || size[len(size)-1] != "1048576" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAProgramThatIsNotThereIsNamed(t *testing.T) {
	s := Spec{Args: []string{"/no/such/program"}, Dir: "/"}
	spec, _ := json.Marshal(s)
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"JAIL_SPEC=" + string(spec)}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 125 || !strings.Contains(string(out), "/no/such/program: start it") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAProgramWhoseParentIsGoneDoesNotStart(t *testing.T) {
	if out, err := shell(t, Spec{Parent: 1}, "echo started"); err == nil || !strings.Contains(out, "has ended") {
		t.Errorf("%v: %s", err, out)
	}
}
