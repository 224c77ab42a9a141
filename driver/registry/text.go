package registry

import (
	"fmt"
	"strings"
	"unicode"
)

// longest is the longest name that is made.
const longest = 80

// Readable makes a name that is one part of a path, and is easily typed.
func Readable(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '%' && r != '°' {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		if b.WriteRune(r); b.Len() >= longest {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// Truth reads true and false; empty is false.
func Truth(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "", "false", "0", "no":
		return false, nil
	case "true", "1", "yes":
		return true, nil
	}
	return false, fmt.Errorf("%q is neither true nor false; write one of them", text)
}
