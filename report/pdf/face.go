package pdf

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"io"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// The fonts: subsets of DejaVu Sans Condensed, without hints and without glyphs that are made of others. See font/subset.py and font/LICENSE.
var (
	//go:embed font/regular.ttf.gz
	regularFile []byte
	//go:embed font/bold.ttf.gz
	boldFile []byte

	// They are read when the first report is made.
	regularFace = sync.OnceValue(func() *face { return open("DejaVuSansCondensed", regularFile) })   //nolint:gochecknoglobals // a part of the program that never changes
	boldFace    = sync.OnceValue(func() *face { return open("DejaVuSansCondensed-Bold", boldFile) }) //nolint:gochecknoglobals // as above
)

func faceOf(f Font) *face {
	if f.Bold {
		return boldFace()
	}
	return regularFace()
}

// face is a TrueType font (ISO/IEC 14496-22) of this program.
type face struct {
	name   string
	tables map[string][]byte
	glyphs map[rune]int // 0 is the box for what is missing
}

// The places of fields in tables.
const (
	headUnits, headBox, headLong = 18, 36, 50
	hheaAscent, hheaMetrics      = 4, 34
	maxpGlyphs                   = 4
)

func open(name string, packed []byte) *face {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // the file is a part of the program
	}
	data, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	f := &face{name: name, tables: map[string][]byte{}}
	for i := range int(binary.BigEndian.Uint16(data[4:])) {
		entry := data[12+16*i:]
		at, size := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
		f.tables[string(entry[:4])] = data[at : at+size]
	}
	f.glyphs = characters(f.tables["cmap"])
	return f
}

// characters reads the table of characters in format 4.
func characters(cmap []byte) map[rune]int {
	glyphs := map[rune]int{}
	for i := range int(binary.BigEndian.Uint16(cmap[2:])) {
		sub := cmap[binary.BigEndian.Uint32(cmap[4+8*i+4:]):]
		if binary.BigEndian.Uint16(sub) != 4 {
			continue
		}
		many := int(binary.BigEndian.Uint16(sub[6:])) // twice the number of segments
		for s := 0; s < many; s += 2 {
			segment(glyphs, sub, many, s)
		}
	}
	return glyphs
}

// segment reads a range of characters, whose fields are at s in four lists of a length.
func segment(glyphs map[rune]int, sub []byte, length, s int) {
	word := func(at int) int { return int(binary.BigEndian.Uint16(sub[at:])) }
	last, first, delta := word(14+s), word(16+length+s), word(16+2*length+s)
	place := 16 + 3*length + s
	offset := word(place)
	for c := first; c <= last && c < 0xffff; c++ {
		glyph := c
		if offset != 0 {
			if glyph = word(place + offset + 2*(c-first)); glyph == 0 {
				continue
			}
		}
		if glyph = (glyph + delta) & 0xffff; glyph != 0 {
			glyphs[rune(c)] = glyph
		}
	}
}

func (f *face) signed(table string, at int) int {
	return int(int16(binary.BigEndian.Uint16(f.tables[table][at:]))) //nolint:gosec // the table has signed numbers
}

// thousandths is a measure in thousandths of the size.
func (f *face) thousandths(units int) int { return units * 1000 / f.signed("head", headUnits) }

// metric returns the entry of a glyph in the table of widths: width and left side bearing.
func (f *face) metric(glyph int) []byte {
	wide := f.signed("hhea", hheaMetrics)
	table := f.tables["hmtx"]
	if glyph < wide {
		return table[4*glyph : 4*glyph+4]
	}
	return append(bytes.Clone(table[4*wide-4:4*wide-2]), table[4*wide+2*(glyph-wide):4*wide+2*(glyph-wide)+2]...)
}

// width returns the width of a glyph in thousandths of the size.
func (f *face) width(glyph int) int {
	return f.thousandths(int(binary.BigEndian.Uint16(f.metric(glyph))))
}

// outline returns a glyph.
func (f *face) outline(glyph int) []byte {
	place := func(i int) uint32 {
		if f.signed("head", headLong) == 0 {
			return 2 * uint32(binary.BigEndian.Uint16(f.tables["loca"][2*i:]))
		}
		return binary.BigEndian.Uint32(f.tables["loca"][4*i:])
	}
	return f.tables["glyf"][place(glyph):place(glyph+1)]
}

// clean is a text as it is drawn: letters with their accents in one, and no controls.
func clean(text string) []rune {
	list := []rune(norm.NFC.String(text))
	for i, r := range list {
		if r < ' ' {
			list[i] = ' '
		}
	}
	return list
}

// Shown reports whether the fonts have all characters of a text. What they lack is drawn as a box.
func Shown(text string) bool {
	for _, r := range clean(text) {
		if regularFace().glyphs[r] == 0 || boldFace().glyphs[r] == 0 {
			return false
		}
	}
	return true
}

// TextWidth returns the width of a text in points.
func TextWidth(f Font, text string) float64 {
	sum, face := 0, faceOf(f)
	for _, r := range clean(text) {
		sum += face.width(face.glyphs[r])
	}
	return float64(sum) * f.Size / 1000
}

// Fit shortens a text at its left until it fits: the end of a path says more than its beginning.
func Fit(f Font, text string, width float64) string {
	if TextWidth(f, text) <= width {
		return text
	}
	runes := clean(text)
	for len(runes) > 1 && TextWidth(f, "…"+string(runes)) > width {
		runes = runes[1:]
	}
	return "…" + string(runes)
}
