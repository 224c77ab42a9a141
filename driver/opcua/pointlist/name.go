package pointlist

import (
	"strconv"
	"strings"

	"voltbus/driver/registry"
)

// Namer gives points names that people can read, made of browse names. The zero Namer knows no names.
type Namer struct{ used map[string]bool }

// Name returns a name for a path of browse names that no other has had. Each part is readable, with / between.
func (n *Namer) Name(path []string) string {
	var parts []string
	for _, part := range path {
		if text := registry.Readable(part); text != "" {
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
