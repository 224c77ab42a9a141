// Package pdf writes documents of pages with text, lines and areas in PDF 1.4 (ISO 32000-1). Text is in Helvetica, one of the fonts that every
// reader has, with the characters of WinAnsiEncoding (annex D); others become question marks.
package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"time"
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
}

// Page is a page. Places are in points from its upper left corner.
type Page struct{ content bytes.Buffer }

// Add begins a page.
func (d *Document) Add() *Page {
	p := new(Page)
	d.pages = append(d.pages, p)
	return p
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
	name := "F1"
	if f.Bold {
		name = "F2"
	}
	fmt.Fprintf(&p.content, "BT %s rg /%s %.2f Tf %.2f %.2f Td (%s) Tj ET\n", f.Colour.operands(), name, f.Size, x, Height-y, escaped(encode(text)))
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

// escaped is a string object (7.3.4.2).
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`, "\r", `\r`, "\n", `\n`).Replace(text)
}

// The numbers of the objects that every document has.
const (
	catalogue = iota + 1
	tree
	regular
	bold
	info
	firstPage
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
	for _, name := range []string{"Helvetica", "Helvetica-Bold"} {
		w.object("<< /Type /Font /Subtype /Type1 /BaseFont /" + name + " /Encoding /WinAnsiEncoding >>")
	}
	w.object(fmt.Sprintf("<< /Title (%s) /Author (%s) /Producer (Voltbus) /CreationDate (D:%sZ) >>",
		escaped(encode(d.Title)), escaped(encode(d.Author)), d.Created.UTC().Format("20060102150405")))
	for i, p := range d.pages {
		w.object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 %d 0 R /F2 %d 0 R >> >> /Contents %d 0 R >>", regular, bold, firstPage+2*i+1))
		if err := w.stream(p.content.Bytes()); err != nil {
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

func (w *writer) stream(data []byte) error {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	w.object(fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), packed.String()))
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
