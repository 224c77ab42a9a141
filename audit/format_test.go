package audit_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"voltbus/audit"
)

const format = "../docs/formats/audit.md"

// python writes the verifier of the documentation to a file and runs it on a log.
func python(t *testing.T, dir string) (out string, whole bool) {
	t.Helper()
	b, err := os.ReadFile(format)
	must(t, err)
	code := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(b)
	if code == nil {
		t.Fatal("the documentation has no verifier")
	}
	script := filepath.Join(t.TempDir(), "verify.py")
	must(t, os.WriteFile(script, code[1], 0o600))
	answer, err := exec.CommandContext(t.Context(), "python3", script, filepath.Join(dir, audit.File)).CombinedOutput()
	return string(answer), err == nil
}

func TestTheVerifierOfTheDocumentationAgrees(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 20)
	if out, whole := python(t, dir); !whole || strings.TrimSpace(out) != verify(t, dir).Head.String() {
		t.Errorf("of a whole log it says: %s", out)
	}
	for _, tt := range []struct{ statement, want string }{
		{`UPDATE entry SET outcome = 'no' WHERE seq = 7`, "entry 7 does not fit"},
		{`DELETE FROM entry WHERE seq = 7`, "entries 7 to 7 are missing"},
		{`DELETE FROM entry WHERE seq > 7`, "the log ends at 7, and should at 20"},
		{`INSERT INTO entry SELECT 21, segment, time, actor, action, subject, outcome, detail, hash FROM entry WHERE seq = 20`, "entry 21 does not fit"},
	} {
		damaged := t.TempDir()
		copyLog(t, dir, damaged)
		tamper(t, damaged, tt.statement)
		if out, whole := python(t, damaged); whole || !strings.Contains(out, tt.want) {
			t.Errorf("after %s it says: %s", tt.statement, out)
		}
	}
}

func TestTheExampleOfTheDocumentationIsRight(t *testing.T) {
	l := open(t, t.TempDir())
	must(t, l.Append(t.Context(), audit.Entry{
		Actor: "person:ada", Action: "person.set", Subject: "bob", Outcome: "ok", Detail: json.RawMessage(`{"role":"viewer"}`),
	}))
	b, err := os.ReadFile(format)
	must(t, err)
	if hash := l.Status().Head.Hash.String(); !strings.Contains(string(b), "the hash is `"+hash+"`") {
		t.Errorf("the hash is %s", hash)
	}
	if at := regexp.MustCompile(`[0-9a-f]{16} [0-9a-f]{16} ([0-9a-f]{16})`).FindSubmatch(b); at == nil || string(at[1]) != hex(clock().UnixMicro()) {
		t.Errorf("the time is %s", hex(clock().UnixMicro()))
	}
}

func hex(n int64) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 16)
	for i := range out {
		out[15-i] = digits[n>>(4*i)&15]
	}
	return string(out)
}
