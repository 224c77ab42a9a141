package strictyaml

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Problem is one error in a file.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // from 1; 0 if it concerns the whole file
	Key  string `json:"key,omitempty"`  // path of the key, such as "devices.boiler.interval"
	Text string `json:"text"`           // what is wrong and what to write instead
	// Kind is the kind of error, in words that reveal nothing of the file, for users who may name the file
	// but not read it; "" if that is impossible.
	Kind string `json:"-"`
}

// New returns a problem whose text is that of fmt.Sprintf. Its kind is the format, with "…" for the
// arguments: the format must contain nothing from the file.
func New(file string, line int, key, format string, args ...any) Problem {
	return Problem{File: file, Line: line, Key: key, Text: fmt.Sprintf(format, args...), Kind: Kind(format)}
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9.]*[a-zA-Z]`)

// Kind returns a format with "…" for each verb; "" if nothing else is in it.
func Kind(format string) string {
	kind := verb.ReplaceAllString(format, "…")
	if !strings.ContainsFunc(kind, unicode.IsLetter) {
		return ""
	}
	return kind
}

// String returns "plant.yaml:14: devices.boiler.interval: text", without the parts that are empty.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		b.WriteString(":" + strconv.Itoa(p.Line))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Sort orders problems by file, line, key and text, and drops duplicates.
func Sort(problems []Problem) []Problem {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(problems)
}
