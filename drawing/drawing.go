package drawing

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"voltbus/fault"
)

// Limits of a picture.
const (
	MaxBytes    = 1 << 20 // of the text, before and after
	MaxElements = 20_000
	MaxDepth    = 64
	MaxDrawn    = 100_000 // elements, with those that are drawn again by references
	maxShown    = 80      // bytes of a text of the picture in an error or a list
)

// Picture is a picture that is safe to show.
type Picture struct {
	SVG      string
	Elements []Element // those with an identifier, in the order of the picture
}

// Element is a part of a picture to which a value can be bound.
type Element struct {
	ID   string
	Kind string // such as text, rect or g
	Text string // of a text, shortened
}

// node is an element of the picture.
type node struct {
	name     string
	attrs    []xml.Attr
	children []*node
	text     string // for a text node, whose name is empty
	line     int
}

var (
	errLarge    = fmt.Errorf("the picture has more than %d bytes; make it simpler, or its embedded images smaller", MaxBytes)
	errUTF8     = errors.New("the picture is not UTF-8; save it as plain SVG in UTF-8")
	errRoot     = errors.New("the picture must be one <svg> element of the namespace " + svgSpace)
	errElements = fmt.Errorf("the picture has more than %d elements; make it simpler", MaxElements)
	errDepth    = fmt.Errorf("elements are nested more than %d deep; ungroup some", MaxDepth)
)

const (
	svgSpace  = "http://www.w3.org/2000/svg"
	linkSpace = "http://www.w3.org/1999/xlink"
	htmlSpace = "http://www.w3.org/1999/xhtml"
)

func refuse(line int, subject string, err error) error {
	if line > 0 {
		err = fmt.Errorf("line %d, %s: %w", line, subject, err)
	}
	return fault.E("drawing.Read", fault.Invalid, subject, err)
}

// Read returns what is safe of a picture. fault.Invalid names the element that makes it unsafe, with its line.
func Read(svg []byte) (*Picture, error) {
	switch {
	case len(svg) > MaxBytes:
		return nil, refuse(0, "svg", errLarge)
	case !utf8.Valid(svg):
		return nil, refuse(0, "svg", errUTF8)
	}
	r := reader{decoder: xml.NewDecoder(bytes.NewReader(svg))}
	root, err := r.read()
	if err != nil {
		return nil, err
	}
	if err := multiplied(root); err != nil {
		return nil, err
	}
	var p Picture
	var out strings.Builder
	write(&out, root, true)
	p.SVG = out.String()
	if len(p.SVG) > MaxBytes {
		return nil, refuse(0, "svg", errLarge)
	}
	p.list(root)
	return &p, nil
}

// list adds the elements with identifiers.
func (p *Picture) list(n *node) {
	if id := n.attribute("id"); id != "" {
		e := Element{ID: id, Kind: n.name}
		if n.name == "text" || n.name == "tspan" {
			e.Text = short(strings.Join(strings.Fields(n.words()), " "))
		}
		p.Elements = append(p.Elements, e)
	}
	for _, c := range n.children {
		p.list(c)
	}
}

func (n *node) attribute(name string) string {
	for _, a := range n.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (n *node) words() string {
	if n.name == "" {
		return n.text
	}
	var b strings.Builder
	for _, c := range n.children {
		b.WriteString(c.words())
	}
	return b.String()
}

func short(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}
