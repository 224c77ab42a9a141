package config

import (
	"strings"

	"voltbus/internal/strictyaml"
)

// Problem is one thing that is wrong, with file, line, key and what to write instead. In JSON it
// has the keys file, line, key and text.
type Problem = strictyaml.Problem

// Problems is everything that is wrong with a configuration, in the order of files and lines.
// It is the cause of the error that Load returns. In JSON it is a list.
type Problems []Problem

// Error returns one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}
