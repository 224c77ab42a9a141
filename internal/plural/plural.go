// Package plural writes counts for people: "1 sample", "2 samples".
package plural

import "fmt"

// Of formats a number of things. thing is the singular, which takes an s in the plural; "more row" is fine,
// too.
func Of[N int | int64 | uint64](n N, thing string) string {
	return fmt.Sprint(n) + " " + Word(n, thing, thing+"s")
}

// Were formats a number of things with the verb: "1 line was", "2 lines were".
func Were[N int | int64 | uint64](n N, thing string) string {
	return Of(n, thing) + " " + Word(n, "was", "were")
}

// Word chooses the word for one or for many: "is" or "are", "entry" or "entries".
func Word[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
