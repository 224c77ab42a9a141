package node_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/identity"
)

func TestAttackStatementsAreAuditedAndLeaveTheNodeAtWork(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+zones))
	eve, _ := r.person("eve", identity.Engineer)
	ask := func(text string) error {
		_, err := eve.SQL(context.Background(), text, 10, func([]string) error { return nil }, func([]json.RawMessage) error { return nil })
		return err
	}
	hidden := "SELECT '" + strings.Repeat("a", 900) + "' /* " + strings.Repeat("a", 900) + " */, 4711 /* " + strings.Repeat("b", 900) + " */"
	long := hidden + strings.Repeat(" ", 33<<10)
	for _, text := range []string{
		hidden, long,
		"SELECT * FROM enable_logging(storage='file', storage_path='/tmp/voltbus-attack')", "SELECT unnest(generate_series(1, 1000000000))",
		"SELECT length(repeat('x', 1000)), '" + strings.Repeat("y", 6_000) + "'", "SELECT count(*) FROM samples",
	} {
		_ = ask(text) // how it ends is another test
	}
	told := strings.Join(r.told(client.AuditFilter{Actor: "person:eve", Action: "sql.query"}), "\n")
	for _, want := range []string{
		"sql.query refused", "enable_logging", "sql.query ok", `"rows":1`, strings.Repeat("y", 6_000), ` */, 4711 /* `, `"length":` + strconv.Itoa(len(long)), "has more than 32 KiB",
		fmt.Sprintf(`"sha256":"%x"`, sha256.Sum256([]byte(long))), "SELECT count(*) FROM samples",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the audit log does not say %q: %.2000s", want, told)
		}
	}
	if len(told) > 15_000 {
		t.Errorf("the audit log took %d bytes", len(told))
	}
	if err := ask("SELECT count(*) FROM samples"); err != nil {
		t.Error(err)
	}
}
