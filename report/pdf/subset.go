package pdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// subset is the part of a font that a document uses. Its glyphs are numbered in the order of their first use; 0 is the box.
type subset struct {
	*face
	numbers map[rune]int
	runes   []rune
}

func newSubset(f *face) *subset {
	return &subset{face: f, numbers: map[rune]int{}, runes: []rune{'□'}}
}

// encode returns a text as the hexadecimal string of its glyphs (7.3.4.3).
func (s *subset) encode(text string) string {
	var b strings.Builder
	b.WriteByte('<')
	for _, r := range clean(text) {
		n, known := s.numbers[r]
		if !known && s.glyphs[r] != 0 {
			n = len(s.runes)
			s.runes = append(s.runes, r)
			s.numbers[r] = n
		}
		fmt.Fprintf(&b, "%04X", n)
	}
	b.WriteByte('>')
	return b.String()
}

// list returns the glyphs in the font.
func (s *subset) list() []int {
	list := make([]int, len(s.runes))
	for i, r := range s.runes[1:] {
		list[i+1] = s.glyphs[r]
	}
	return list
}

// fontObjects is how many objects a font has.
const fontObjects = 5

// write writes a font as a composite one (9.7), whose first object has a number.
func (s *subset) write(w *writer, first int) error {
	name := s.tag() + "+" + s.name
	widths := make([]string, 0, len(s.runes))
	for _, glyph := range s.list() {
		widths = append(widths, strconv.Itoa(s.width(glyph)))
	}
	w.object(fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>", name, first+1, first+4))
	w.object(fmt.Sprintf("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "+
		"/FontDescriptor %d 0 R /CIDToGIDMap /Identity /W [0 [%s]] >>", name, first+2, strings.Join(widths, " ")))
	measure := func(table string, at int) int { return s.thousandths(s.signed(table, at)) }
	w.object(fmt.Sprintf("<< /Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [%d %d %d %d] /ItalicAngle 0 /Ascent %d /Descent %d /CapHeight 729 /StemV 80 /FontFile2 %d 0 R >>",
		name, measure("head", headBox), measure("head", headBox+2), measure("head", headBox+4), measure("head", headBox+6),
		measure("hhea", hheaAscent), measure("hhea", hheaAscent+2), first+3))
	file := s.file()
	if err := w.stream(file, fmt.Sprintf("/Length1 %d ", len(file))); err != nil {
		return err
	}
	return w.stream(s.unicode(), "")
}

// tag tells subsets of a font apart (9.6.4).
func (s *subset) tag() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(string(s.runes)))
	sum, tag := h.Sum32(), make([]byte, 6)
	for i := range tag {
		tag[i] = 'A' + byte(sum%26)
		sum /= 26
	}
	return string(tag)
}

// unicode says which characters the glyphs are (9.10.3), so that a text can be searched and copied.
func (s *subset) unicode() []byte {
	var b bytes.Buffer
	b.WriteString("/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n" +
		"/CMapName /Adobe-Identity-UCS def /CMapType 2 def\n1 begincodespacerange <0000> <FFFF> endcodespacerange\n")
	const most = 100 // in one list
	for from := 0; from < len(s.runes); from += most {
		part := s.runes[from:min(from+most, len(s.runes))]
		fmt.Fprintf(&b, "%d beginbfchar\n", len(part))
		for i, r := range part {
			fmt.Fprintf(&b, "<%04X> <%04X>\n", from+i, r)
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap CMapName currentdict /CMap defineresource pop end end\n")
	return b.Bytes()
}

// file returns a TrueType font of the used glyphs, with the tables that a PDF needs.
func (s *subset) file() []byte {
	var outlines, places, metrics []byte
	for _, glyph := range s.list() {
		places = binary.BigEndian.AppendUint32(places, uint32(len(outlines))) //nolint:gosec // a font of this program is small
		outlines = append(outlines, s.outline(glyph)...)
		outlines = append(outlines, make([]byte, -len(outlines)&3)...)
		metrics = append(metrics, s.metric(glyph)...)
	}
	places = binary.BigEndian.AppendUint32(places, uint32(len(outlines))) //nolint:gosec // as above
	head, hhea, maxp := bytes.Clone(s.tables["head"]), bytes.Clone(s.tables["hhea"]), bytes.Clone(s.tables["maxp"])
	many := uint16(len(s.runes)) //nolint:gosec // as above
	binary.BigEndian.PutUint16(head[headLong:], 1)
	binary.BigEndian.PutUint16(hhea[hheaMetrics:], many)
	binary.BigEndian.PutUint16(maxp[maxpGlyphs:], many)
	return assemble([]table{{"glyf", outlines}, {"head", head}, {"hhea", hhea}, {"hmtx", metrics}, {"loca", places}, {"maxp", maxp}})
}

type table struct {
	tag  string
	data []byte
}

// assemble puts tables, which are sorted, behind their directory.
func assemble(tables []table) []byte {
	const header, entry = 12, 16
	out := []byte{0, 1, 0, 0, 0, byte(len(tables)), 0, 64, 0, 2, 0, byte(entry*len(tables) - 64)} // the search fields of 4 to 7 tables
	var body []byte
	at := header + entry*len(tables)
	for _, t := range tables {
		out = append(out, t.tag...)
		padded := append(bytes.Clone(t.data), make([]byte, -len(t.data)&3)...)
		for _, n := range []uint32{checksum(padded), uint32(at + len(body)), uint32(len(t.data))} { //nolint:gosec // a font of this program is small
			out = binary.BigEndian.AppendUint32(out, n)
		}
		body = append(body, padded...)
	}
	return append(out, body...)
}

func checksum(padded []byte) (sum uint32) {
	for i := 0; i < len(padded); i += 4 {
		sum += binary.BigEndian.Uint32(padded[i:])
	}
	return sum
}
