package explain

import (
	"iter"
	"strings"
)

// Node is a line of an explanation with those that belong to it.
type Node struct {
	Text string
	Of   []Node
}

func (n *Node) add(text string) { n.Of = append(n.Of, Node{Text: text}) }

// Lines yields the line and all below it, each indented by two spaces a level.
func (n Node) Lines() iter.Seq[string] {
	return func(yield func(string) bool) { n.walk(0, yield) }
}

func (n Node) walk(depth int, yield func(string) bool) bool {
	if !yield(strings.Repeat("  ", depth) + n.Text) {
		return false
	}
	for i := range n.Of {
		if !n.Of[i].walk(depth+1, yield) {
			return false
		}
	}
	return true
}

// String returns all lines, each with a line feed behind it.
func (n Node) String() string {
	var b strings.Builder
	for line := range n.Lines() {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}
