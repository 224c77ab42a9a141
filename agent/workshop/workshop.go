// Package workshop runs an agent from its sources in the foreground, for development. It is not isolated: it is the developer's own
// program.
package workshop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"voltbus/agent/description"
	"voltbus/fault"
)

// Project is the folder of an agent under development.
type Project struct {
	Dir    string // contains pyproject.toml
	Python string // an interpreter to use as it is, including its SDK; "" for the project's own environment
	Wheels string // a folder with wheels, for a machine without access to a registry; "" for none
	SDK    func() (name string, wheel []byte, err error)
	Log    func(text string) // is called before lengthy steps
}

const (
	venvDir   = ".venv"
	stampFile = "voltbus.stamp" // records what the environment was built from
)

var errNoProject = errors.New("has no pyproject.toml; name the folder of a Python project, or begin with voltbus agent new")

// Prepare returns the interpreter that the agent runs with, an absolute path. It creates the environment in
// .venv, and updates it when pyproject.toml or the SDK has changed. The project's sources are used in place.
func (p *Project) Prepare(ctx context.Context) (string, error) {
	const op = "workshop.Prepare"
	project, err := os.ReadFile(filepath.Join(p.Dir, "pyproject.toml"))
	if err != nil {
		return "", fault.E(op, fault.Invalid, p.Dir, errNoProject)
	}
	if p.Python != "" {
		found, err := exec.LookPath(p.Python)
		if err == nil {
			found, err = filepath.Abs(found)
		}
		if err != nil {
			return "", fault.E(op, fault.Invalid, "--python", err)
		}
		return found, nil
	}
	name, wheel, err := p.SDK()
	if err != nil {
		return "", fault.E(op, fault.Unavailable, "", err)
	}
	venv, err := filepath.Abs(filepath.Join(p.Dir, venvDir))
	if err != nil {
		return "", fault.E(op, fault.Unavailable, p.Dir, err)
	}
	interpreter, sum := filepath.Join(venv, "bin", "python"), sha256.Sum256(append(project, wheel...))
	stamp := hex.EncodeToString(sum[:])
	if have, err := os.ReadFile(filepath.Join(venv, stampFile)); err == nil && string(have) == stamp {
		return interpreter, nil
	}
	if err := p.install(ctx, venv, name, wheel); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(venv, stampFile), []byte(stamp), 0o644); err != nil {
		return "", fault.E(op, fault.Unavailable, venv, err)
	}
	return interpreter, nil
}

// install creates the environment if absent, and installs the SDK and the project into it.
func (p *Project) install(ctx context.Context, venv, name string, wheel []byte) error {
	const op = "workshop.install"
	tmp, err := os.MkdirTemp("", "voltbus-sdk-*")
	if err != nil {
		return fault.E(op, fault.Unavailable, "", err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // a folder of the system's temporary folder
	sdk := filepath.Join(tmp, name)
	if err := os.WriteFile(sdk, wheel, 0o600); err != nil {
		return fault.E(op, fault.Unavailable, sdk, err)
	}
	interpreter := filepath.Join(venv, "bin", "python")
	create := []string{"python3", "-m", "venv", venv}
	install := []string{interpreter, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"}
	if uv, err := exec.LookPath("uv"); err == nil {
		create = []string{uv, "venv", "--quiet", venv}
		install = []string{uv, "pip", "install", "--quiet", "--python", interpreter}
	}
	if _, err := os.Stat(interpreter); err != nil {
		p.Log("making an environment of Python in " + filepath.Join(p.Dir, venvDir))
		if _, err := p.Run(ctx, create); err != nil {
			return fault.E(op, fault.Unavailable, venv, fmt.Errorf("make a virtual environment: %w; --python names an interpreter to use instead", err))
		}
	}
	if p.Wheels != "" {
		wheels, err := filepath.Abs(p.Wheels)
		if err != nil {
			return fault.E(op, fault.Invalid, "--wheels", err)
		}
		install = append(install, "--find-links", wheels)
	}
	p.Log("installing what it needs")
	if _, err := p.Run(ctx, append(install, sdk, "--editable", ".")); err != nil {
		return fault.E(op, fault.Invalid, p.Dir, fmt.Errorf("cannot be installed: %w; without a registry, give what it needs with --wheels", err))
	}
	return nil
}

// Run is a description.Runner in the project's folder.
func (p *Project) Run(ctx context.Context, args []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // the developer's own programs
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w", description.Last(strings.TrimSpace(complaint.String()+"\n"+out.String())), err)
	}
	return out.Bytes(), nil
}
