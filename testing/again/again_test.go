package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module whose tests do as the text says, runs them and returns the file of their events.
func module(t *testing.T, text string) (events string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"go.mod":     "module example\n\ngo 1.26\n",
		"it_test.go": "package example\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n// ran says whether this has run before, and notes it.\nfunc ran(name string) bool {\n\t_, err := os.Stat(name)\n\tos.WriteFile(name, nil, 0o600)\n\treturn err == nil\n}\n\nfunc TestPasses(t *testing.T) { if ran(\"passes\") { t.Fatal(\"ran twice\") } }\n\n" + text,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-json", "-timeout", "1s", ".").Output() // it fails
	events = filepath.Join(dir, "events.json")
	if err := os.WriteFile(events, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return events
}

func TestATestThatPassesTheSecondTimeIsListed(t *testing.T) {
	for name, text := range map[string]string{
		"it failed": `func TestFlaky(t *testing.T) { if !ran("flaky") { t.Fatal("as if by chance") } }`,
		"it panicked before another ran": `func TestFlaky(t *testing.T) { if !ran("flaky") { panic("as if by chance") } }
func TestLater(t *testing.T) { ran("later") }`,
		"it did not end": `func TestFlaky(t *testing.T) { if !ran("flaky") { select {} } }
func TestLater(t *testing.T) { ran("later") }`,
	} {
		t.Run(name, func(t *testing.T) {
			events := module(t, text)
			if err := run(t.Context(), t.Output(), "flaky.txt", []string{events}); err != nil {
				t.Fatal(err)
			}
			listed, err := os.ReadFile("flaky.txt")
			if err != nil || string(listed) != "example TestFlaky\n" {
				t.Errorf("listed are %q, %v", listed, err)
			}
			if _, err := os.Stat("later"); strings.Contains(text, "TestLater") && err != nil {
				t.Error("the test that had not run did not run now")
			}
		})
	}
}

func TestATestThatFailsAgainFailsTheRun(t *testing.T) {
	for name, text := range map[string]string{
		"it fails":             `func TestFails(t *testing.T) { t.Fatal("always") }`,
		"one never ran before": `func TestFlaky(t *testing.T) { if !ran("flaky") { panic("once") } }; func TestLater(t *testing.T) { t.Fatal("always") }`,
		"it is not compiled":   `func TestFails(t *testing.T) { undefined() }`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(t.Context(), t.Output(), "flaky.txt", []string{module(t, text)}); err == nil {
				t.Error("the run passed")
			}
			if listed, err := os.ReadFile("flaky.txt"); err == nil {
				t.Errorf("listed are %q", listed)
			}
		})
	}
}

func TestMoreFailuresThanAreLuckDoNotRunAgain(t *testing.T) {
	var events strings.Builder
	for _, letter := range "ABCDEFGHIJK" {
		events.WriteString(`{"Action":"fail","Package":"example","Test":"Test` + string(letter) + `"}` + "\n")
	}
	events.WriteString(`{"Action":"fail","Package":"example"}` + "\n")
	name := filepath.Join(t.TempDir(), "events.json")
	if err := os.WriteFile(name, []byte(events.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), t.Output(), name+".flaky", []string{name}); err == nil || !strings.Contains(err.Error(), "11 tests failed") {
		t.Errorf("it says %v", err)
	}
}
