package alarm

import (
	"slices"
	"strings"

	"voltbus/point"
)

// index finds the rules that may select a point without trying all: by the literal segments with which their patterns begin.
type index map[point.Path][]*compiled

func (x index) add(c *compiled) {
	for _, p := range c.Points {
		prefix := point.Pattern(p).Prefix()
		if !slices.Contains(x[prefix], c) {
			x[prefix] = append(x[prefix], c)
		}
	}
}

// of returns the rules with a pattern that may select a path, each once.
func (x index) of(path point.Path) []*compiled {
	list := slices.Clone(x[""])
	for at := 0; at < len(path); at++ {
		end := strings.IndexByte(string(path[at:]), '/')
		if end < 0 {
			end = len(path) - at
		}
		at += end
		for _, c := range x[path[:at]] {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}
