package regulationtool_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/cmd/voltbus/regulationtool"
)

func run(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := regulationtool.New()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.Execute()
	return out.String(), err
}

func TestAGeneratedSignalIsScored(t *testing.T) {
	text, err := run("signal", "--length", "2h", "--seed", "3")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "regd.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run("score", file, file)
	if err != nil || !strings.Contains(out, "The composite score 1.000 qualifies") {
		t.Error(out, err)
	}
	// A load whose power is the signal consumes more where the grid needs more power.
	out, err = run("score", file, file, "--baseline", "0", "--capacity", "1")
	if err != nil || !strings.Contains(out, "does not qualify") {
		t.Error(out, err)
	}
	out, err = run("score", file, file, "--json")
	if err != nil || !strings.HasPrefix(out, `{"correlation":1,`) {
		t.Error(out, err)
	}
}

func TestWrongUseIsSaid(t *testing.T) {
	for want, args := range map[string][]string{
		"no such file":  {"score", "none.csv", "none.csv"},
		"write both --": {"score", "a", "b", "--capacity", "5"},
		"such as 40m":   {"signal", "--length", "1s"},
	} {
		if _, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}
