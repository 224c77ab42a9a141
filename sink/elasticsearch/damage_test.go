package elasticsearch_test

import (
	"os"
	"path/filepath"
	"testing"
)

// damage cuts the file of the position.
func damage(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "sinks", "there.json"), []byte(`{"log":`), 0o600); err != nil {
		t.Fatal(err)
	}
}
