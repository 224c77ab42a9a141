package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"voltbus/python"
)

// An agent lives with the real SDK, once installed by uv and once by pip, from the registry that
// these are configured for.
func TestAnAgentLivesFromItsFirstLineToItsEnd(t *testing.T) {
	uv := installer(t)
	t.Run("installed by uv", func(t *testing.T) {
		if uv == "" {
			t.Skip("there is no uv; make peers fetches it")
		}
		live(t, "agent", uv)
	})
	t.Run("installed by pip", func(t *testing.T) { live(t, "agent", "") })
}

func TestAnAgentIsOperatedAndCalledFromTwoNodesAbove(t *testing.T) { live(t, "tree", installer(t)) }

func TestAnAgentConnectsToANodeThatListensEverywhere(t *testing.T) {
	live(t, "everywhere", installer(t))
}

// installer returns where uv is, "" if there is none. Without the SDK in the program there is nothing to
// test.
func installer(t *testing.T) string {
	t.Helper()
	if _, _, err := python.Wheel(); errors.Is(err, python.ErrNotBuilt) {
		t.Skip(err)
	}
	return uvHere(t)
}

// uvHere returns where uv is, "" if there is none.
func uvHere(t *testing.T) string {
	t.Helper()
	uv, err := filepath.Abs("../../.venv/bin/uv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(uv); err == nil {
		return uv
	}
	uv, _ = exec.LookPath("uv") // pip does it, too
	return uv
}

// live plays a script with uv at a path, or without.
func live(t *testing.T, script, uv string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata", "life", script+".txtar")},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			for _, v := range os.Environ() { // as pip and uv are configured here
				if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "PIP_") || strings.HasPrefix(name, "UV_") ||
					strings.HasSuffix(strings.ToLower(name), "_proxy") || strings.HasPrefix(name, "SSL_CERT_") || name == "PYENV_ROOT" {
					e.Setenv(name, value)
				}
			}
			settings := "agents: {uv: 'off', isolation: auto}\n"
			if uv != "" {
				bin := filepath.Join(e.WorkDir, "tools")
				if err := errors.Join(os.Mkdir(bin, 0o755), os.Symlink(uv, filepath.Join(bin, "uv"))); err != nil {
					return err
				}
				e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
				settings = "agents: {uv: " + uv + "}\n"
			}
			file := filepath.Join(e.WorkDir, "voltbus.yaml")
			have, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, append(have, settings...), 0o600)
		},
		Condition: func(name string) (bool, error) { return name == "uv" && uv != "", nil },
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "until": until},
	})
}
