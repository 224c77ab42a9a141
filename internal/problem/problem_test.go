package problem_test

import (
	"testing"

	"voltbus/internal/problem"
)

func TestTheFirstProblemStandsForAll(t *testing.T) {
	for want, got := range map[string]string{
		"is wrong":                           problem.First(0, "", "is wrong", 1),
		"limits.max: is wrong":               problem.First(0, "limits.max", "is wrong", 1),
		"line 3: is wrong (and 1 more)":      problem.First(3, "", "is wrong", 2),
		"line 3: a.b: is wrong (and 4 more)": problem.First(3, "a.b", "is wrong", 5),
	} {
		if got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
