// Package pdf writes documents of pages with text, lines and areas in PDF 1.4 (ISO 32000-1). Text is in DejaVu Sans Condensed, of which a document has the
// glyphs that it uses: Latin, Greek and Cyrillic letters, arrows, and signs of units. Other characters become boxes.
package pdf

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"
)

// The size of a page in points, of 1/72 inch: A4, upright (ISO 216).
const (
	Width  = 595.28
	Height = 841.89
)

// Colour is 0xrrggbb.
type Colour uint32

// Align says where a text is beside its place.
type Align int

// The ways to align a text.
const (
	Left Align = iota
	Right
	Centre
)

// Font is how a text is written.
type Font struct {
	Size   float64
	Bold   bool
	Colour Colour
}

// Document is a document that is being made. The zero value is empty.
type Document struct {
	Title, Author string
	Created       time.Time
	pages         []*Page
	regular, bold *subset
}

// Page is a page. Places are in points from its upper left corner.
type Page struct {
	content bytes.Buffer
	doc     *Document
}

// Add begins a page.
func (d *Document) Add() *Page {
	d.fonts()
	p := &Page{doc: d}
	d.pages = append(d.pages, p)
	return p
}

func (d *Document) fonts() {
	if d.regular == nil {
		d.regular, d.bold = newSubset(regularFace()), newSubset(boldFace())
	}
}

// Pages returns the pages so far.
func (d *Document) Pages() []*Page { return d.pages }

// Text writes a line of text whose base line is at y.
func (p *Page) Text(x, y float64, f Font, align Align, text string) {
	switch align {
	case Left:
	case Right:
		x -= TextWidth(f, text)
	case Centre:
		x -= TextWidth(f, text) / 2
	}
	name, font := "F1", p.doc.regular
	if f.Bold {
		name, font = "F2", p.doc.bold
	}
	fmt.Fprintf(&p.content, "BT %s rg /%s %.2f Tf %.2f %.2f Td %s Tj ET\n", f.Colour.operands(), name, f.Size, x, Height-y, font.encode(text))
}

// Line draws a line through places x, y, x, y and so on.
func (p *Page) Line(width float64, c Colour, places ...float64) {
	if len(places) < 4 {
		return
	}
	fmt.Fprintf(&p.content, "%.2f w %s RG ", width, c.operands())
	p.path(places)
	p.content.WriteString("S\n")
}

// Area fills an area between places.
func (p *Page) Area(c Colour, places ...float64) {
	if len(places) < 6 {
		return
	}
	fmt.Fprintf(&p.content, "%s rg ", c.operands())
	p.path(places)
	p.content.WriteString("h f\n")
}

func (p *Page) path(places []float64) {
	for i := 0; i+1 < len(places); i += 2 {
		operator := "l"
		if i == 0 {
			operator = "m"
		}
		fmt.Fprintf(&p.content, "%.2f %.2f %s ", places[i], Height-places[i+1], operator)
	}
}

func (c Colour) operands() string {
	return fmt.Sprintf("%.3f %.3f %.3f", float64(c>>16&0xff)/255, float64(c>>8&0xff)/255, float64(c&0xff)/255)
}

// words is a text string in UTF-16 (7.9.2.2).
func words(text string) string {
	var b strings.Builder
	b.WriteString("<FEFF")
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	b.WriteByte('>')
	return b.String()
}

// The numbers of the objects that every document has.
const (
	catalogue = iota + 1
	tree
	regular
	bold      = regular + fontObjects
	info      = bold + fontObjects
	firstPage = info + 1
)

// WriteTo writes the document.
func (d *Document) WriteTo(to io.Writer) (int64, error) {
	w := &writer{to: to}
	w.text("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	w.object("<< /Type /Catalog /Pages 2 0 R >>")
	kids := make([]string, len(d.pages))
	for i := range d.pages {
		kids[i] = fmt.Sprintf("%d 0 R", firstPage+2*i)
	}
	w.object(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] /MediaBox [0 0 %.2f %.2f] >>", len(d.pages), strings.Join(kids, " "), Width, Height))
	d.fonts()
	if err := errors.Join(d.regular.write(w, regular), d.bold.write(w, bold)); err != nil {
		return w.at, err
	}
	w.object(fmt.Sprintf("<< /Title %s /Author %s /Producer (Voltbus) /CreationDate (D:%sZ) >>", words(d.Title), words(d.Author), d.Created.UTC().Format("20060102150405")))
	for i, p := range d.pages {
		w.object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 %d 0 R /F2 %d 0 R >> >> /Contents %d 0 R >>", regular, bold, firstPage+2*i+1))
		if err := w.stream(p.content.Bytes(), ""); err != nil {
			return w.at, err
		}
	}
	w.end()
	return w.at, w.err
}

// writer writes objects, and knows where they are.
type writer struct {
	to     io.Writer
	at     int64
	places []int64
	err    error
}

func (w *writer) text(s string) {
	if w.err == nil {
		var n int
		n, w.err = io.WriteString(w.to, s)
		w.at += int64(n)
	}
}

func (w *writer) object(content string) {
	w.places = append(w.places, w.at)
	w.text(fmt.Sprintf("%d 0 obj\n%s\nendobj\n", len(w.places), content))
}

// stream writes packed data; more are further entries of its dictionary.
func (w *writer) stream(data []byte, more string) error {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	w.object(fmt.Sprintf("<< /Length %d %s/Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), more, packed.String()))
	return w.err
}

// end writes the table of objects (7.5.4) and the trailer.
func (w *writer) end() {
	start := w.at
	w.text(fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(w.places)+1))
	for _, place := range w.places {
		w.text(fmt.Sprintf("%010d 00000 n \n", place))
	}
	w.text(fmt.Sprintf("trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(w.places)+1, catalogue, info, start))
}
