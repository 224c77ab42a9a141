package engine

import "strings"

// Quote makes a string literal of SQL.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
