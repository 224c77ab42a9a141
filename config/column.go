package config

import (
	"strings"
	"unicode/utf8"
)

// Column returns the column, from 1 and in characters, at which the key of the problem begins in its line of
// the text, or else where the line begins; 0 if the text has no such line.
func (t Text) Column(p Problem) int {
	if p.Line < 1 || p.Line > len(t) {
		return 0
	}
	line := t[p.Line-1]
	key := p.Key[strings.LastIndexAny(p.Key, ".[")+1:]
	at := -1
	if key != "" && !strings.HasSuffix(key, "]") {
		at = strings.Index(line, key)
	}
	if at < 0 {
		at = len(line) - len(strings.TrimLeft(line, " \t"))
	}
	return utf8.RuneCountInString(line[:at]) + 1
}

// Text is a file as lines.
type Text []string

// Lines splits a text.
func Lines(text []byte) Text { return strings.Split(string(text), "\n") }
