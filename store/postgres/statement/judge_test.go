package statement_test

import (
	"strings"
	"testing"

	"voltbus/store/postgres/statement"
)

// TestAttackWhatStandsInACommentIsNeverCarriedOutUnjudged has texts of which a pattern and PostgreSQL read different statements.
// The carried out text must be EXPLAIN with options, if any, and what the server's parser judges.
func TestAttackWhatStandsInACommentIsNeverCarriedOutUnjudged(t *testing.T) {
	for _, text := range []string{
		"/* /* */ EXPLAIN SELECT 1 -- */ DELETE FROM sample", "-- a\rDELETE FROM sample /*\nEXPLAIN SELECT 1 --*/", "EXPLAIN /* /* */ SELECT 1 -- */ DELETE FROM sample",
		"EXPLAIN -- a\rANALYZE DELETE FROM sample /*\nSELECT 1 --*/", "EXPLAIN (ANALYZE) /* /* */ SELECT 1 -- */ DELETE FROM sample", "EXPLAIN ANALYZE DELETE FROM sample",
	} {
		s, err := statement.Read(text)
		if err != nil {
			continue // refused
		}
		if strings.HasPrefix(text, "/*") || strings.HasPrefix(text, "--") {
			t.Errorf("%q is taken, want refused: a comment stands before EXPLAIN", text)
		}
		query := s.Query()
		before, rest, ok := strings.Cut(query, "SELECT * FROM (")
		if !ok || !strings.HasSuffix(rest, "\n) AS statement") {
			t.Errorf("%q is carried out as %q, which is not a query of one judged text", text, query)
		}
		if strings.ContainsAny(before, "-/*;") {
			t.Errorf("%q is carried out with %q before the judged text", text, before)
		}
	}
}
