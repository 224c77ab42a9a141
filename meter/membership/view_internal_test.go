package membership

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/fault"
)

func TestADamagedViewSaysWhatToDo(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "cut": `{"members":["mds-1"`, "of another kind": `[1]`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ViewFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := checkView(t.Context(), &Config{Dir: dir}, nil, 0)
		if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "restore it from a copy, or move it away") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestANodeThatWasNeverInAClusterHasNoView(t *testing.T) {
	dir := t.TempDir()
	if err := checkView(t.Context(), &Config{Dir: dir}, nil, 0); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ViewFile)); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}
