package drawing

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// reader reads a picture.
type reader struct {
	decoder  *xml.Decoder
	root     *node
	open     []*node // from the root to the element that is read
	skipped  int     // depth within an element that is left out; 0 outside
	elements int
}

func (r *reader) line() int {
	line, _ := r.decoder.InputPos()
	return line
}

func (r *reader) read() (*node, error) {
	for {
		token, err := r.decoder.Token()
		if errors.Is(err, io.EOF) {
			if r.root == nil {
				return nil, refuse(0, "svg", errRoot)
			}
			return r.root, nil
		}
		if err != nil {
			return nil, refuse(0, "svg", fmt.Errorf("the picture cannot be read as XML: %w", err))
		}
		if err := r.take(token); err != nil {
			return nil, err
		}
	}
}

// take takes in one token.
func (r *reader) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return r.begin(&t)
	case xml.EndElement:
		if r.skipped > 0 {
			r.skipped--
		} else if len(r.open) > 0 {
			r.open = r.open[:len(r.open)-1]
		}
	case xml.CharData:
		if r.skipped == 0 && len(r.open) > 0 {
			last := r.open[len(r.open)-1]
			last.children = append(last.children, &node{text: string(t)})
		}
	case xml.Directive:
		if text := string(t); strings.Contains(text, "[") || strings.Contains(strings.ToUpper(text), "ENTITY") {
			return refuse(r.line(), "<!DOCTYPE>", errors.New("a picture must not declare entities; remove everything between [ and ]"))
		}
	case xml.ProcInst:
		if t.Target != "xml" {
			return refuse(r.line(), "<?"+short(t.Target)+"?>", errors.New("a picture must not have processing instructions; remove it"))
		}
	}
	return nil
}

// begin takes in the beginning of an element.
func (r *reader) begin(t *xml.StartElement) error {
	subject := "<" + short(t.Name.Local) + ">"
	if r.elements++; r.elements > MaxElements {
		return refuse(r.line(), subject, errElements)
	}
	if len(r.open)+r.skipped >= MaxDepth {
		return refuse(r.line(), subject, errDepth)
	}
	if r.root == nil || len(r.open)+r.skipped == 0 {
		if r.root != nil || t.Name.Space != svgSpace || t.Name.Local != "svg" {
			return refuse(r.line(), subject, errRoot)
		}
	}
	switch why, refused := refusedNames[strings.ToLower(t.Name.Local)]; {
	case refused && (t.Name.Space == svgSpace || t.Name.Space == htmlSpace || t.Name.Space == ""):
		return refuse(r.line(), subject, errors.New(why))
	case t.Name.Space == htmlSpace:
		return refuse(r.line(), subject, errors.New("a picture must not hold HTML; export it with plain text"))
	case r.skipped > 0 || t.Name.Space != svgSpace || leftOutNames[t.Name.Local]:
		r.skipped++
		return nil
	case !elementNames[t.Name.Local]:
		return refuse(r.line(), subject, errors.New("this element is not allowed in a picture; draw it with shapes, texts and groups"))
	}
	n := &node{name: t.Name.Local, line: r.line()}
	if err := n.take(t.Attr); err != nil {
		return err
	}
	if r.root == nil {
		r.root = n
	} else {
		last := r.open[len(r.open)-1]
		last.children = append(last.children, n)
	}
	r.open = append(r.open, n)
	return nil
}
