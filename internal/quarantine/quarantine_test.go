package quarantine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/internal/quarantine"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wholeOnly(content []byte) error {
	if string(content) != "whole" {
		return errors.New("it is not whole")
	}
	return nil
}

func TestADamagedFileIsSetAsideAndItsCopyTakesItsPlace(t *testing.T) {
	for name, tt := range map[string]struct {
		content, copied string
		there           bool // a file of the name, afterwards
		found           string
	}{
		"whole":                    {"whole", "whole", true, ""},
		"whole beside a bad copy":  {"whole", "bad", true, ""},
		"damaged":                  {"who", "", false, "f was damaged (it is not whole) and is set aside as f.damaged-20261122T120000.000000: write it anew"},
		"empty":                    {"", "", false, "f was damaged (it is empty) and is set aside as f.damaged-20261122T120000.000000: write it anew"},
		"damaged beside a copy":    {"who", "whole", true, "f was damaged (it is not whole) and is set aside as f.damaged-20261122T120000.000000: its copy is in use"},
		"damaged beside a bad one": {"who", "bad", false, "f was damaged (it is not whole) and is set aside as f.damaged-20261122T120000.000000: write it anew"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "f", tt.content)
			put(t, dir, "f.copy", tt.copied)
			files := []quarantine.File{{Name: "f", Check: wholeOnly, Copy: "f.copy", Lost: "write it anew"}, {Name: "absent", Check: wholeOnly}}
			found, err := quarantine.Files(dir, files, noon)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if len(found) == 1 {
				text = found[0].String()
			}
			if text != tt.found || len(found) > 1 {
				t.Errorf("found %+v", found)
			}
			content, err := os.ReadFile(filepath.Join(dir, "f"))
			if (err == nil) != tt.there || (tt.there && string(content) != "whole") {
				t.Errorf("the file holds %q, %v", content, err)
			}
			kept := quarantine.List(dir, files)
			if len(kept) != len(found) {
				t.Fatalf("kept are %+v", kept)
			}
			for i := range kept {
				if aside, err := os.ReadFile(filepath.Join(dir, kept[i].Aside)); err != nil || string(aside) != tt.content {
					t.Errorf("%s holds %q, %v", kept[i].Aside, aside, err)
				}
			}
		})
	}
}

func TestAFileThatIsNeededStaysWithoutACopy(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "f", "who")
	files := []quarantine.File{{Name: "f", Check: wholeOnly, Copy: "f.copy", Needed: true}}
	if found, err := quarantine.Files(dir, files, noon); err != nil || len(found) != 0 {
		t.Errorf("without a copy: %+v, %v", found, err)
	}
	put(t, dir, "f.copy", "whole")
	if found, err := quarantine.Files(dir, files, noon); err != nil || len(found) != 1 || !found[0].Restored {
		t.Errorf("with a copy: %+v, %v", found, err)
	}
}

func TestADatabaseIsSetAsideWithWhatStandsBesideIt(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "x.db", "")
	put(t, dir, "x.db-wal", "log")
	files := []quarantine.File{{Name: "x.db", Database: true}}
	found, err := quarantine.Files(dir, files, noon)
	if err != nil || len(found) != 1 || len(quarantine.List(dir, files)) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if _, err := os.Stat(filepath.Join(dir, found[0].Aside+"-wal")); err != nil {
		t.Error(err)
	}
	put(t, dir, "x.db", "anything else is judged by who opens it")
	if found, err := quarantine.Files(dir, files, noon); err != nil || len(found) != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestWhatIsNoFileIsSetAside(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o700), os.Symlink("nowhere", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "folder"), "f", "content")
	found, err := quarantine.Files(dir, []quarantine.File{{Name: "folder"}, {Name: "link"}}, noon)
	if err != nil || len(found) != 2 || !strings.Contains(found[0].Reason, "not a regular file") || !strings.Contains(found[1].Reason, "a link to") {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := os.Stat(filepath.Join(dir, found[0].Aside, "f")); err != nil {
		t.Error(err)
	}
}

func TestAFileThatCannotBeSetAsideNamesTheCommand(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "f", "who")
	if err := os.Mkdir(filepath.Join(dir, "f"+quarantine.Mark+"20261122T120000.000000"), 0o700); err != nil { // a file cannot take a folder's place
		t.Fatal(err)
	}
	_, err := quarantine.Files(dir, []quarantine.File{{Name: "f", Check: wholeOnly}}, noon)
	if err == nil || !strings.Contains(err.Error(), "run: mv '"+filepath.Join(dir, "f")+"'") {
		t.Errorf("the error is %v", err)
	}
}
