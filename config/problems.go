package config

import (
	"strings"

	"voltbus/internal/strictyaml"
)

// Problem is one error in a configuration, with file, line, key and what to write instead. In JSON it has the
// keys file, line, key and text.
type Problem = strictyaml.Problem

// Problems are all errors in a configuration, ordered by file and line. It is the cause of the error that
// Load returns. In JSON it is a list.
type Problems []Problem

// Error returns one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}
