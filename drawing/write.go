package drawing

import (
	"encoding/xml"
	"errors"
	"strings"
)

var errMultiplies = errors.New("references make the picture draw too many elements; replace nested <use>, patterns and markers by shapes")

// multiplied returns an error for pictures that draw far more than they hold: each reference draws anew what it refers to, and a marker is
// drawn at each corner of a path.
func multiplied(root *node) error {
	c := counter{byID: map[string]*node{}, known: map[*node]int{}}
	c.index(root)
	if c.drawn(root) > MaxDrawn {
		return refuse(0, "<use>", errMultiplies)
	}
	return nil
}

type counter struct {
	byID  map[string]*node
	known map[*node]int // how many elements are drawn for one; above MaxDrawn while it is counted, so that circles are too many
}

func (c *counter) index(n *node) {
	if id := n.attribute("id"); id != "" && c.byID[id] == nil {
		c.byID[id] = n
	}
	for _, child := range n.children {
		c.index(child)
	}
}

func (c *counter) drawn(n *node) int {
	if count, is := c.known[n]; is {
		return count
	}
	c.known[n] = MaxDrawn + 1
	count := 1
	for _, child := range n.children {
		if count = min(count+c.drawn(child), MaxDrawn+1); count > MaxDrawn {
			return count
		}
	}
	for _, id := range n.references() {
		if to := c.byID[id]; to != nil {
			if count = min(count+c.drawn(to)*n.corners(), MaxDrawn+1); count > MaxDrawn {
				return count
			}
		}
	}
	c.known[n] = count
	return count
}

// corners says how often a reference of the element may be drawn: markers at each corner, everything else once.
func (n *node) corners() int {
	for _, a := range n.attrs {
		if strings.HasPrefix(a.Name.Local, "marker") {
			return 1 + min(len(n.attribute("d"))+len(n.attribute("points")), MaxDrawn)/4
		}
	}
	return 1
}

// write writes an element and what is in it.
func write(to *strings.Builder, n *node, root bool) {
	if n.name == "" {
		escape(to, n.text)
		return
	}
	to.WriteString("<" + n.name)
	if root {
		to.WriteString(` xmlns="` + svgSpace + `"`)
	}
	for _, a := range n.attrs {
		to.WriteString(" " + a.Name.Local + `="`)
		escape(to, a.Value)
		to.WriteString(`"`)
	}
	if len(n.children) == 0 {
		to.WriteString("/>")
		return
	}
	to.WriteString(">")
	for _, c := range n.children {
		write(to, c, false)
	}
	to.WriteString("</" + n.name + ">")
}

func escape(to *strings.Builder, text string) {
	_ = xml.EscapeText(to, []byte(text)) // a builder takes everything
}
