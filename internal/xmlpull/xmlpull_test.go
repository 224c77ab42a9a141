package xmlpull_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"voltbus/internal/xmlpull"
)

// tokens writes down what is read of a document; adjacent texts are one.
func tokens(in io.Reader, l xmlpull.Limits) (string, error) {
	var b strings.Builder
	var text []byte
	flush := func() {
		if len(text) > 0 {
			fmt.Fprintf(&b, "%q ", text)
			text = text[:0]
		}
	}
	r := xmlpull.New(in, l)
	for {
		k, err := r.Next()
		if err != nil {
			flush()
			if again, twice := r.Next(); twice == nil || again != 0 {
				return b.String(), fmt.Errorf("after %w: token %d", err, again)
			}
			if errors.Is(err, io.EOF) {
				return b.String(), nil
			}
			return b.String(), err
		}
		switch k {
		case xmlpull.Text:
			text = append(text, r.Text()...)
		case xmlpull.Start:
			flush()
			fmt.Fprintf(&b, "<%s|%s", r.Name().Space, r.Name().Local)
			for _, a := range r.Attrs() {
				fmt.Fprintf(&b, " %s|%s=%q", a.Name.Space, a.Name.Local, a.Value)
			}
			b.WriteString("> ")
		case xmlpull.End:
			flush()
			fmt.Fprintf(&b, "</%s|%s> ", r.Name().Space, r.Name().Local)
		}
	}
}

func TestADocumentIsReadAsTheStandardSays(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`<a/>`, `<|a> </|a> `},
		{"\xEF\xBB\xBF<?xml version=\"1.0\" encoding='UTF-8'?>\n<!-- c --><a></a>\n<?pi x?>", `<|a> </|a> `},
		{`<a b="1" c='2'>t</a >`, `<|a |b="1" |c="2"> "t" </|a> `},
		{`<a>&lt;&#65;&#x42;&amp;&gt;&quot;&apos;</a>`, `<|a> "<AB&>\"'" </|a> `},
		{`<a><![CDATA[<b>&amp;]]></a>`, `<|a> "<b>&amp;" </|a> `},
		{"<a x='1\r\n2\t3'>l\r\nm\rn</a>", `<|a |x="1 2 3"> "l\nm\nn" </|a> `},
		{`<p:a xmlns:p="u" xmlns="d" p:x="1" y="2"><b/></p:a>`, `<u|a u|x="1" |y="2"> <d|b> </d|b> </u|a> `},
		{`<a xmlns="d"><b xmlns=""><c/></b><e/></a>`, `<d|a> <|b> <|c> </|c> </|b> <d|e> </d|e> </d|a> `},
		{`<p:a xmlns:p="1"><p:b xmlns:p="2"/><p:c/></p:a>`, `<1|a> <2|b> </2|b> <1|c> </1|c> </1|a> `},
		{`<a xml:lang="de">ü</a>`, `<|a http://www.w3.org/XML/1998/namespace|lang="de"> "ü" </|a> `},
		{`<a b=">"/>`, `<|a |b=">"> </|a> `},
	} {
		for name, in := range map[string]io.Reader{"whole": strings.NewReader(tt.in), "octets": iotest.OneByteReader(strings.NewReader(tt.in))} {
			if got, err := tokens(in, xmlpull.Limits{}); err != nil || got != tt.want {
				t.Errorf("%s %q\n got %s, %v\nwant %s", name, tt.in, got, err, tt.want)
			}
		}
	}
}

func TestAttackDocumentsThatAreNoneAreRefusedWithTheirLine(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{``, "line 1: the document is empty"},
		{"<a>\n<b>\n</a>", `line 3: end tag "a" does not end what is open`},
		{`<a>`, "the document ends within element a"},
		{`<a/><b/>`, "a second root element"},
		{`<a/>x`, "text outside the root element"},
		{`</a>`, "does not end what is open"},
		{`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`, "a document type"},
		{`<!doctype a><a/>`, "<! begins nothing here"},
		{`<![CDATA[x]]><a/>`, "<! begins nothing here"},
		{`<a>&x;</a>`, "&x; is not known"},
		{`<a>&#0;</a>`, "is not known"},
		{`<a>&#xFFFFFFFF;</a>`, "is not known"},
		{`<a>&#xD800;</a>`, "is not known"},
		{`<a>&#+65;</a>`, "is not known"},
		{`<a>x & y</a>`, "& that begins no reference"},
		{`<a>]]></a>`, "]]> within text"},
		{"<a>\x00</a>", "control character 0x00"},
		{"<a b='\x1b'/>", "control character 0x1B"},
		{"<a>\xff</a>", "not in UTF-8"},
		{"<a>\uFFFE</a>", "characters that XML does not have"},
		{"\xFF\xFE<\x00a\x00", "not in UTF-8"},
		{"<\x00a\x00/\x00>\x00", "not in UTF-8"},
		{`<?xml version="1.0" encoding="UTF-16"?><a/>`, "not in UTF-8, says its declaration"},
		{`<?xml version="1.0" encoding="ISO-8859-1"?><a/>`, "not in UTF-8, says its declaration"},
		{` <?xml version="1.0"?><a/>`, "not at the beginning"},
		{`<a><?xml version="1.0"?></a>`, "not at the beginning"},
		{`<a b="1" b="2"/>`, "attribute b stands twice"},
		{`<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="2"/>`, "attribute q:b stands twice"},
		{`<a b/>`, "has no value"},
		{`<a b=1/>`, "has no quotes"},
		{`<a b="1"c="2"/>`, "no space before an attribute"},
		{`<a b="<"/>`, "< within a tag"},
		{`<a b="1/>`, "a tag without an end"},
		{`<p:a/>`, "prefix p has no namespace"},
		{`<a p:b="1"/>`, "prefix p has no namespace"},
		{`<a xmlns:p=""/>`, "prefix p without a namespace"},
		{`<a xmlns:xml="u"/>`, "keeps for itself"},
		{`<a xmlns="http://www.w3.org/XML/1998/namespace"/>`, "keeps for itself"},
		{`<1a/>`, "is no name"},
		{`<a:/>`, "is no name"},
		{`<:a/>`, "is no name"},
		{`<a:b:c/>`, "is no name"},
		{`< a/>`, "is no name"},
		{`<>`, "is no name"},
		{`<a><!-- -- --></a>`, "a comment with --"},
		{`<a><!-- x --->`, "a comment with --"},
		{`<a><!-- x`, "a comment without an end"},
		{`<a><![CDATA[ x`, "a CDATA section without an end"},
		{`<`, "ends with <"},
	} {
		for name, in := range map[string]io.Reader{"whole": strings.NewReader(tt.in), "octets": iotest.OneByteReader(strings.NewReader(tt.in))} {
			if got, err := tokens(in, xmlpull.Limits{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s %q: read %s, %v; want %s", name, tt.in, got, err, tt.want)
			}
		}
	}
}

func TestAttackDocumentsBeyondTheirLimitsAreRefused(t *testing.T) {
	attributes, spaces, names := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}
	for i := range 2000 {
		if i < 33 {
			fmt.Fprintf(attributes, " a%d=''", i)
		}
		if i < 64 {
			fmt.Fprintf(spaces, "<a xmlns:a%d='u' xmlns:b%d='u'>", i, i)
		}
		fmt.Fprintf(names, "<n%d/>", i)
	}
	for _, tt := range []struct{ name, in, want string }{
		{"depth", strings.Repeat("<a>", 100_000), "more than 64 deep"},
		{"attributes", "<a" + attributes.String() + "/>", "more than 32 attributes"},
		{"namespaces", spaces.String(), "more than 64 namespaces"},
		{"names", "<a>" + names.String() + "</a>", "more than 1000 different names"},
		{"a name", "<" + strings.Repeat("a", 1<<20), "more than 65536 bytes"},
		{"a value", "<a b='" + strings.Repeat("a", 1<<20), "more than 65536 bytes"},
		{"a comment", "<a><!--" + strings.Repeat("a", 1<<20), "more than 65536 bytes"},
		{"a text", "<a>" + strings.Repeat("a", 1<<20), "more than 65536 bytes"},
		{"the document", "<a>" + strings.Repeat("<b>x</b>", 1<<17) + "</a>", "more than 1000000 bytes"},
	} {
		if _, err := tokens(strings.NewReader(tt.in), xmlpull.Limits{Size: 1_000_000}); tt.name != "a name" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v; want %s", tt.name, err, tt.want)
		}
	}
}

func TestContentAndSkipEndWithTheirElement(t *testing.T) {
	r := xmlpull.New(strings.NewReader(`<a><b>1<!-- c -->2<![CDATA[3]]></b><c><d>x</d><d/></c><e/><f><g/></f></a>`), xmlpull.Limits{})
	next := func(want string) {
		t.Helper()
		if k, err := r.Next(); err != nil || k != xmlpull.Start || r.Name().Local != want {
			t.Fatalf("read %d %s, %v; want %s", k, r.Name().Local, err, want)
		}
	}
	next("a")
	next("b")
	if got, err := r.Content(nil); err != nil || string(got) != "123" {
		t.Errorf("content %q, %v", got, err)
	}
	next("c")
	if err := r.Skip(); err != nil {
		t.Error(err)
	}
	next("e")
	if got, err := r.Content(nil); err != nil || len(got) != 0 {
		t.Errorf("content of an empty element %q, %v", got, err)
	}
	next("f")
	if _, err := r.Content(nil); err == nil || !strings.Contains(err.Error(), "element g where text is expected") {
		t.Errorf("content with an element: %v", err)
	}
}

// FuzzWhatIsReadIsWhatAnotherParserReads compares with the parser of the standard library: what this one takes, that one takes, and reads alike.
func FuzzWhatIsReadIsWhatAnotherParserReads(f *testing.F) {
	for _, seed := range []string{
		`<a b="1">t&amp;<![CDATA[x]]></a>`, `<p:a xmlns:p="u"><p:b/></p:a>`, `<?xml version="1.0"?><a><!--c--><b/>&#10;</a>`, "<a>\r\n</a>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		whole, err := tokens(bytes.NewReader(doc), xmlpull.Limits{})
		parts, errParts := tokens(iotest.OneByteReader(bytes.NewReader(doc)), xmlpull.Limits{})
		if whole != parts || (err == nil) != (errParts == nil) {
			t.Fatalf("whole %s, %v\nparts %s, %v", whole, err, parts, errParts)
		}
		if err != nil || bytes.Contains(doc, []byte("<?")) || bytes.Contains(doc, []byte("\xEF\xBB\xBF")) {
			return
		}
		if want, err := standard(doc); err != nil || want != texts(whole) {
			t.Fatalf("%q\nread %s\nthe other one reads %s, %v", doc, texts(whole), want, err)
		}
	})
}

// texts leaves of tokens what both parsers tell in one form.
func texts(tokens string) string {
	return fmt.Sprint(strings.Count(tokens, "</"), strings.Count(tokens, "\" "))
}

// standard reads with the standard library: how many elements and texts there are.
func standard(doc []byte) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(doc))
	var b strings.Builder
	var text []byte
	flush := func() {
		if len(text) > 0 {
			fmt.Fprintf(&b, "%q ", text)
			text = nil
		}
	}
	depth := 0
	for {
		k, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts(b.String()), nil
		}
		if err != nil {
			return "", err
		}
		switch k := k.(type) {
		case xml.StartElement:
			flush()
			depth++
			fmt.Fprintf(&b, "<|%s", k.Name.Local)
			for _, a := range k.Attr {
				if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					fmt.Fprintf(&b, " |%s=%q", a.Name.Local, a.Value)
				}
			}
			b.WriteString("> ")
		case xml.EndElement:
			flush()
			depth--
			fmt.Fprintf(&b, "</|%s> ", k.Name.Local)
		case xml.CharData:
			if depth > 0 {
				text = append(text, k...)
			}
		}
	}
}

func document(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`<m:RecordReadings xmlns:m="urn:x">`)
	for i := range n {
		fmt.Fprintf(&b, `<m:reading meter="E%07d" channel="1" end="2026-03-01T00:15:00Z" value="%d.25"/>`, i, i%100)
	}
	b.WriteString(`</m:RecordReadings>`)
	return b.Bytes()
}

func BenchmarkADocumentOfReadings(b *testing.B) {
	doc := document(1000)
	b.Run("xmlpull", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			r := xmlpull.New(bytes.NewReader(doc), xmlpull.Limits{})
			for {
				if _, err := r.Next(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("encoding-xml", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			d := xml.NewDecoder(bytes.NewReader(doc))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
