package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The audit log holds each statement as a whole, so that one person's are bounded.
func TestAttackStatementsDoNotFillTheAuditLog(t *testing.T) {
	n := start(t)
	ask := func(length int) reply {
		text := "SELECT '" + strings.Repeat("x", length-9) + "'"
		return n.do("POST", "/api/v1/sql", fmt.Sprintf(`{"statement":%q}`, text), n.bearer())
	}
	if got := ask(32 << 10); got.StatusCode != 200 {
		t.Fatalf("the first gives %d %s", got.StatusCode, got.body)
	}
	got := ask(100)
	if p := got.problem(t); p.Status != 429 || got.Header.Get("Retry-After") == "" {
		t.Errorf("the next gives %+v", p)
	}
	n.clock.advance(3 * time.Second)
	if got := ask(100); got.StatusCode != 200 {
		t.Errorf("later it gives %d %s", got.StatusCode, got.body)
	}
	n.clock.advance(time.Hour)
	for what, text := range map[string]string{
		"longer":        strings.Repeat("x", 32<<10+1),
		"longer quoted": strings.Repeat("<", 32<<10),
	} {
		if p := n.do("POST", "/api/v1/sql", fmt.Sprintf(`{"statement":%q}`, text), n.bearer()).problem(t); p.Status != 400 || !strings.Contains(p.Detail, "32 KiB") {
			t.Errorf("%s: %+v", what, p)
		}
	}
}
