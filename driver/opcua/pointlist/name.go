package pointlist

import (
	"strconv"
	"strings"
	"unicode"
)

// Namer gives points names that people can read, made of browse names. The zero Namer knows no names.
type Namer struct{ used map[string]bool }

// Name returns a name for a path of browse names that no other has had. Each part is readable, with / between.
func (n *Namer) Name(path []string) string {
	var parts []string
	for _, part := range path {
		if text := Readable(part); text != "" {
			parts = append(parts, text)
		}
	}
	name := strings.Join(parts, "/")
	if name == "" {
		name = "node"
	}
	if n.used == nil {
		n.used = make(map[string]bool)
	}
	unique := name
	for i := 2; n.used[unique]; i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	n.used[unique] = true
	return unique
}

// longest is the longest part of a name that is made.
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
