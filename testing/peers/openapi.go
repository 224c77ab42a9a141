package peers

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Schemathesis makes requests from the OpenAPI document at the address, right ones and wrong ones,
// sends them with the header, and checks the answers by the document; the test fails with its
// report. Further arguments are its own.
func Schemathesis(t testing.TB, address, header string, args ...string) {
	t.Helper()
	args = append([]string{
		"-m", "schemathesis.cli", "--config-file", filepath.Join(folder(), "schemathesis.toml"),
		"run", address, "--header", header, "--no-color", "--warnings", "off", "--no-shrink", "--generation-database", "none",
	}, args...)
	cmd := exec.CommandContext(t.Context(), Python(t), args...)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the answers do not fit the document (%v):\n%s", err, out[:min(len(out), 20_000)])
	}
}

// CheckOpenAPI lets openapi-spec-validator judge an OpenAPI document; the test fails with what is
// wrong.
func CheckOpenAPI(t testing.TB, file string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Python(t), "-m", "openapi_spec_validator", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s is not OpenAPI (%v):\n%s", file, err, out[:min(len(out), 20_000)])
	}
}
