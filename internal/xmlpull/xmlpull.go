// Package xmlpull reads untrusted XML: strictly, in one pass, and within limits. It refuses document types, so there are no entities but
// the five of XML itself, and nothing outside the document is ever read. Source: XML 1.0 (fifth edition) and Namespaces in XML 1.0 (third
// edition).
package xmlpull

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Kind is the kind of a token.
type Kind uint8

// What Next returns.
const (
	Start Kind = iota + 1 // a start tag; an empty element is a Start and an End
	End
	Text // characters, including those of a CDATA section; a text may come in pieces
)

// Name is an expanded name: Space is "" without a namespace.
type Name struct{ Space, Local string }

// Attr is an attribute. Namespace declarations are not attributes.
type Attr struct {
	Name  Name
	Value []byte // valid until the next token
}

// Limits bound a document. Zero values mean the defaults.
type Limits struct {
	Size       int64 // bytes of the document: default 64 MiB
	Depth      int   // nesting of elements: default 64
	Attributes int   // per element: default 32
	Token      int   // bytes of a tag, a comment or a text: default 64 KiB
	Names      int   // distinct names and namespaces: default 1,000
}

func (l *Limits) fill() {
	for _, f := range []struct {
		value *int
		usual int
	}{{&l.Depth, 64}, {&l.Attributes, 32}, {&l.Token, 64 << 10}, {&l.Names, 1000}} {
		if *f.value == 0 {
			*f.value = f.usual
		}
	}
	if l.Size == 0 {
		l.Size = 64 << 20
	}
}

// Error describes what is wrong with a document, and where.
type Error struct {
	Line int
	Why  string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// Reader reads one document.
type Reader struct {
	source
	spaces
	rooted  bool // the root element has begun
	emptied bool // the last Start was an empty element
	stack   []element

	name  Name
	attrs []Attr
	text  []byte
}

type element struct {
	name     *qualified
	space    string
	bindings int // their number before it
}

// New returns a reader of a document.
func New(in io.Reader, l Limits) *Reader {
	l.fill()
	r := &Reader{source: source{limits: l, in: in, buf: make([]byte, 0, min(l.Token, 16<<10))}}
	r.spaces = spaces{from: &r.source, names: make(map[string]*qualified), bindings: []binding{{"xml", xmlSpace}}}
	return r
}

// Name returns the name of the element of a Start or End.
func (r *Reader) Name() Name { return r.name }

// Attrs returns the attributes of Start. They are valid until the next token.
func (r *Reader) Attrs() []Attr { return r.attrs }

// Text returns the characters of Text. They are valid until the next token.
func (r *Reader) Text() []byte { return r.text }

// Next reads the next token. It returns io.EOF after a complete document, and after any other error the same error again.
func (r *Reader) Next() (Kind, error) {
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return 0, r.err
	}
	r.keep = r.keep[:0]
	for {
		k, err := r.token()
		if err != nil {
			r.fail(err)
			return 0, err
		}
		if k != 0 {
			return k, nil
		}
	}
}

func (r *Reader) fail(err error) {
	if !errors.Is(err, io.EOF) {
		r.err = err
	}
}

// Skip reads to the end of the element whose Start was last read.
func (r *Reader) Skip() error {
	for depth := len(r.stack); ; {
		k, err := r.Next()
		if err != nil {
			return err
		}
		if k == End && len(r.stack) == depth-1 {
			return nil
		}
	}
}

// Content reads to the end of the element whose Start was last read and appends its text to dst. It fails if there is an element in it.
func (r *Reader) Content(dst []byte) ([]byte, error) {
	for {
		k, err := r.Next()
		if err != nil {
			return dst, err
		}
		switch k {
		case End:
			return dst, nil
		case Start:
			return dst, r.Problem("element %s where text is expected", r.name.Local)
		default:
			if len(dst)+len(r.text) > r.limits.Token {
				return dst, r.Problem("a text of more than %d bytes", r.limits.Token)
			}
			dst = append(dst, r.text...)
		}
	}
}

// token reads the next token; 0 for one that is not passed on.
func (r *Reader) token() (Kind, error) {
	if r.emptied {
		r.emptied = false
		r.pop()
		return End, nil
	}
	for r.pos == len(r.buf) {
		more, err := r.more()
		if err != nil {
			return 0, err
		}
		if !more {
			return 0, r.over()
		}
	}
	if !r.begun {
		if err := r.begin(); err != nil {
			return 0, err
		}
	}
	if r.pos == len(r.buf) {
		return 0, nil
	}
	if r.buf[r.pos] != '<' {
		return r.characters()
	}
	return r.markup()
}

// over checks the end of the document.
func (r *Reader) over() error {
	switch {
	case len(r.stack) > 0:
		return r.Problem("the document ends within element %s", r.stack[len(r.stack)-1].name.raw)
	case !r.rooted:
		return r.Problem("the document is empty")
	}
	return io.EOF
}

// markup reads a construct that begins with "<".
func (r *Reader) markup() (Kind, error) {
	for len(r.buf)-r.pos < 2 {
		if more, err := r.more(); err != nil {
			return 0, err
		} else if !more {
			return 0, r.Problem("the document ends with <")
		}
	}
	switch r.buf[r.pos+1] {
	case '/':
		return r.endTag()
	case '?':
		return 0, r.instruction()
	case '!':
		return r.declaration()
	}
	return r.startTag()
}

// instruction reads a processing instruction or the XML declaration.
func (r *Reader) instruction() error {
	first := r.total-int64(len(r.buf))+int64(r.pos) == r.mark
	body, err := r.upto(2, "?>", "a processing instruction")
	if err != nil {
		return err
	}
	target, rest, _ := strings.Cut(string(body), " ")
	if !strings.EqualFold(target, "xml") {
		return r.plain(body)
	}
	if !first || target != "xml" {
		return r.Problem("an XML declaration that is not at the beginning")
	}
	_, after, named := strings.Cut(rest, "encoding")
	after = strings.TrimLeft(after, " \t\r\n=")
	if named && !encoded(after) {
		return r.Problem("the document is not in UTF-8, says its declaration")
	}
	return nil
}

// encoded reports whether a quoted name is UTF-8 or a subset of it.
func encoded(quoted string) bool {
	if quoted == "" {
		return false
	}
	name, _, ok := strings.Cut(quoted[1:], quoted[:1])
	return ok && (strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "us-ascii"))
}

// declaration reads a construct that begins with "<!".
func (r *Reader) declaration() (Kind, error) {
	const cdata = "<![CDATA["
	for len(r.buf)-r.pos < len(cdata) {
		if more, err := r.more(); err != nil {
			return 0, err
		} else if !more {
			break
		}
	}
	switch head := r.buf[r.pos:]; {
	case bytes.HasPrefix(head, []byte("<!--")):
		body, err := r.upto(4, "-->", "a comment")
		if err != nil {
			return 0, err
		}
		if bytes.Contains(body, []byte("--")) || bytes.HasSuffix(body, []byte("-")) {
			return 0, r.Problem("a comment with -- in it")
		}
		return 0, r.plain(body)
	case bytes.HasPrefix(head, []byte(cdata)) && len(r.stack) > 0:
		body, err := r.upto(len(cdata), "]]>", "a CDATA section")
		if err != nil {
			return 0, err
		}
		if err := r.plain(body); err != nil {
			return 0, err
		}
		r.text = body
		if bytes.IndexByte(body, '\r') >= 0 {
			r.text = r.lineEnds(body)
		}
		return Text, nil
	case bytes.HasPrefix(head, []byte("<!DOCTYPE")):
		return 0, r.Problem("a document type, which is not taken from anybody: leave <!DOCTYPE out")
	}
	return 0, r.Problem("<! begins nothing here")
}
