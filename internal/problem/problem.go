// Package problem joins a list of problems in a text into one sentence.
package problem

import "fmt"

// First formats the first problem of a list of n: its line if known (from 1), its path in the text if it has one, and
// the number of further ones.
func First(line int, path, text string, all int) string {
	if path != "" {
		text = path + ": " + text
	}
	if line > 0 {
		text = fmt.Sprintf("line %d: %s", line, text)
	}
	if all > 1 {
		text += fmt.Sprintf(" (and %d more)", all-1)
	}
	return text
}
