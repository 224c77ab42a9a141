package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"voltbus/agent/description"
	"voltbus/agent/guard"
	"voltbus/agent/jail"
	"voltbus/agent/launch"
	"voltbus/agent/place"
	"voltbus/agent/upload"
	"voltbus/fault"
)

// buildTime is the longest that a single step of an installation may take.
const buildTime = 10 * time.Minute

// toolchain holds the programs that build versions.
type toolchain struct {
	cfg   *Config
	guard *guard.Guard
}

// python returns the interpreter for building agents: one that their users can reach, if there is one.
func (t *toolchain) python() string {
	name := t.cfg.Install.Python
	if name == "" {
		name = "python3"
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return name
	}
	if target, err := filepath.EvalSymlinks(found); err == nil && strings.Contains(target, "/shims/") {
		found = ""
	}
	const system = "/usr/bin/python3"
	if t.cfg.Install.Python == "" && (found == "" || (t.guard.Users && !t.guard.Reachable(found))) && t.guard.Reachable(system) {
		return system
	}
	return found
}

// step runs a program in a jail to its end.
func (t *toolchain) step(ctx context.Context, spec *jail.Spec, env []string) ([]byte, error) {
	spec.Parent = 0 // any thread may start it: the request waits for it
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fault.E("agent.step", fault.Internal, "", err)
	}
	cmd := exec.CommandContext(ctx, t.cfg.Exec[0], append(t.cfg.Exec[1:len(t.cfg.Exec):len(t.cfg.Exec)], string(text))...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = launch.Drain
	cmd.Env = env
	out, complaint := limited{most: 4 << 20}, limited{most: 256 << 10}
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, fault.E("agent.step", fault.Timeout, spec.Args[0], fmt.Errorf("did not end in time: %w", ctx.Err()))
		}
		said := description.Last(complaint.String())
		if said == "" {
			said = description.Last(out.String())
		}
		return nil, fmt.Errorf("%s: %w", said, err)
	}
	return out.Bytes(), nil
}

// builder builds a version: a virtual environment with the package and its dependencies. Everything that runs
// for it is other people's code, and runs with the agent's rights.
type builder struct {
	s     *Supervisor
	place place.Place
	dir   string // of the version
	uid   int
}

// uv returns the path of the program uv, "" if there is none usable.
func (b *builder) uv() string {
	if b.s.cfg.Install.UV == "off" {
		return ""
	}
	name := b.s.cfg.Install.UV
	if name == "" {
		name = "uv"
	}
	found, err := exec.LookPath(name)
	if err != nil || (b.s.guard.User(b.uid) != 0 && !b.s.guard.Reachable(found)) {
		return ""
	}
	if abs, err := filepath.Abs(found); err == nil {
		return abs
	}
	return ""
}

func (b *builder) build(ctx context.Context, up *upload.Received, entry string) (*Program, error) {
	for _, dir := range []string{b.dir, filepath.Join(b.dir, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, fault.E("agent.Install", fault.Unavailable, dir, err)
		}
	}
	source, err := up.MoveTo(b.dir)
	if err != nil {
		return nil, err
	}
	sdk, err := b.sdk()
	if err != nil {
		return nil, err
	}
	user := b.s.guard.User(b.uid)
	if err := b.s.guard.OwnAll(b.dir, user, user); err != nil {
		return nil, err
	}
	if source, err = b.open(ctx, source); err != nil {
		return nil, err
	}
	if err := b.environment(ctx, sdk, source); err != nil {
		return nil, err
	}
	p, err := b.describe(ctx, entry)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"tmp", upload.SourceDir, upload.WheelsDir, "sdk"} {
		if err := os.RemoveAll(filepath.Join(b.dir, dir)); err != nil {
			return nil, fault.E("agent.Install", fault.Unavailable, dir, err)
		}
	}
	return p, nil
}

// maxUnpacked is the most bytes that a source archive may contain.
const maxUnpacked = 1 << 30

// openScript unpacks an archive within that limit, and prints the one folder in it.
const openScript = `import os, shutil, sys, tarfile, zipfile
most = int(sys.argv[3])
if zipfile.is_zipfile(sys.argv[1]):
    size = sum(m.file_size for m in zipfile.ZipFile(sys.argv[1]).infolist())
else:
    size = 0
    for m in tarfile.open(sys.argv[1]):
        size += m.size
        if size > most:
            break
if size > most:
    sys.exit(f"it unpacks to more than {most >> 20} MiB")
shutil.unpack_archive(sys.argv[1], sys.argv[2])
names = os.listdir(sys.argv[2])
here = "pyproject.toml" in names or "setup.py" in names
print(sys.argv[2] if here or len(names) != 1 else os.path.join(sys.argv[2], names[0]), end="")
`

// open unpacks the source, with the rights of the agent: the name of an archive says nothing about its
// content, which installers would trust. A wheel is left as it is.
func (b *builder) open(ctx context.Context, source string) (string, error) {
	if strings.HasSuffix(source, ".whl") {
		return source, nil
	}
	out, err := b.run(ctx, []string{b.s.tools.python(), "-c", openScript, source, filepath.Join(b.dir, upload.SourceDir, "open"), strconv.Itoa(maxUnpacked)})
	if err != nil {
		return "", fault.E("agent.Install", fault.Invalid, filepath.Base(source), fmt.Errorf("cannot be unpacked: %w", err))
	}
	return string(out), nil
}

// sdk puts the wheel of the SDK in place.
func (b *builder) sdk() (string, error) {
	name, wheel, err := b.s.cfg.Install.SDK()
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.dir, "sdk", name)
	return file, upload.Store(file, bytes.NewReader(wheel))
}

func (b *builder) venv() string { return filepath.Join(b.dir, "venv") }

func (b *builder) interpreter() string { return filepath.Join(b.venv(), "bin", "python") }

// environment creates the virtual environment and installs into it.
func (b *builder) environment(ctx context.Context, packages ...string) error {
	python, uv, wheels := b.s.tools.python(), b.uv(), filepath.Join(b.dir, upload.WheelsDir)
	create := []string{python, "-m", "venv", b.venv()}
	install := []string{b.interpreter(), "-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check", "--no-input", "--quiet"}
	if uv != "" {
		create = []string{uv, "venv", "--quiet", "--no-cache", "--no-config", "--python", python, b.venv()}
		install = []string{uv, "pip", "install", "--quiet", "--no-cache", "--link-mode=copy", "--compile-bytecode", "--python", b.interpreter()}
	}
	if _, err := os.Stat(wheels); err == nil {
		install = append(install, "--find-links", wheels)
	}
	if _, err := b.run(ctx, create); err != nil {
		return fault.E("agent.Install", fault.Unavailable, python, fmt.Errorf("make a virtual environment: %w; agents.python names another interpreter", err))
	}
	if _, err := b.run(ctx, append(install, packages...)); err != nil {
		return fault.E("agent.Install", fault.Invalid, filepath.Base(packages[len(packages)-1]), fmt.Errorf(
			"cannot be installed: %w; without a registry, give what it needs with --wheels", err))
	}
	return nil
}

// describe finds the agent in the package, and asks it for its description.
func (b *builder) describe(ctx context.Context, wanted string) (*Program, error) {
	e, err := description.Find(ctx, b.run, b.interpreter(), wanted)
	if err != nil {
		return nil, err
	}
	d, err := description.Read(ctx, b.run, b.interpreter(), e.Entry)
	if err != nil {
		return nil, err
	}
	return &Program{
		Args: []string{b.interpreter(), "-m", "voltbus", "run", e.Entry}, Title: d.Doc, Entry: e.Entry,
		Release: e.Release, Wants: d.Wants, Schema: d.Schema, Methods: d.Methods,
	}, nil
}

// run runs a step with the rights of the agent, and returns its output.
func (b *builder) run(ctx context.Context, args []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	spec := b.s.guard.Spec(b.place, b.uid)
	spec.Args, spec.Dir = args, b.dir
	spec.Write = append(spec.Write, b.dir)
	spec.Read = append(append(spec.Read, guard.Interpreter(args[0])...), guard.Interpreter(b.s.tools.python())...)
	spec.Read = append(spec.Read, filepath.Dir(args[0]))
	if links := os.Getenv("PIP_FIND_LINKS"); filepath.IsAbs(links) {
		spec.Read = append(spec.Read, links)
	}
	return b.s.tools.step(ctx, &spec, b.environ())
}

// environ is the environment of a step: pip and uv are configured as the node's user has them.
func (b *builder) environ() []string {
	env := environment(b.place)
	for i := range env {
		if strings.HasPrefix(env[i], "TMPDIR=") {
			env[i] = "TMPDIR=" + filepath.Join(b.dir, "tmp")
		}
		if strings.HasPrefix(env[i], "HOME=") {
			env[i] = "HOME=" + filepath.Join(b.dir, "tmp")
		}
	}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "PIP_") || strings.HasPrefix(v, "UV_") {
			env = append(env, v)
		}
	}
	return env
}

// limited keeps the first bytes written to it.
type limited struct {
	bytes.Buffer
	most int
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	_, err := l.Buffer.Write(b[:min(len(b), max(l.most-l.Len(), 0))])
	return len(b), err
}
