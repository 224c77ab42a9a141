package encoding

import "fmt"

// Cursor steps over tagged elements. After the first error it stands still; End and Err tell of it.
type Cursor struct {
	data []byte
	at   int
	err  error
}

// Err returns the first error.
func (c *Cursor) Err() error { return c.err }

// End returns the first error, or ErrTrailing when data is left.
func (c *Cursor) End() error {
	if c.err == nil && c.at < len(c.data) {
		c.fail(ErrTrailing)
	}
	return c.err
}

// More reports whether there is another element before the end or a closing tag.
func (c *Cursor) More() bool {
	if c.err != nil || c.at >= len(c.data) {
		return false
	}
	t, _, err := ParseTag(c.data[c.at:])
	return err != nil || t.Form != Closing // what cannot be read fails when it is read
}

// Fail makes err the cursor's error unless it has one.
func (c *Cursor) Fail(err error) { c.fail(err) }

func (c *Cursor) fail(err error) {
	if c.err == nil {
		c.err = fmt.Errorf("octet %d: %w", c.at, err)
	}
}

// Peek returns the next tag without stepping over it; false at the end and after an error.
func (c *Cursor) Peek() (Tag, bool) {
	if c.err != nil || c.at >= len(c.data) {
		return Tag{}, false
	}
	t, _, err := ParseTag(c.data[c.at:])
	return t, err == nil
}

// Has reports whether a primitive with the context tag is next.
func (c *Cursor) Has(tag int) bool {
	t, ok := c.Peek()
	return ok && t.Context && t.Form == Primitive && int(t.Number) == tag
}

// HasOpening reports whether an opening tag is next.
func (c *Cursor) HasOpening(tag int) bool {
	t, ok := c.Peek()
	return ok && t.Form == Opening && int(t.Number) == tag
}

// Opening steps over an opening tag.
func (c *Cursor) Opening(tag int) { c.mark(tag, Opening) }

// Closing steps over a closing tag.
func (c *Cursor) Closing(tag int) { c.mark(tag, Closing) }

func (c *Cursor) mark(tag int, form Form) {
	if c.err != nil {
		return
	}
	t, n, err := ParseTag(c.data[c.at:])
	switch {
	case err != nil:
		c.fail(err)
	case t.Form != form || int(t.Number) != tag:
		c.fail(fmt.Errorf("%w: %v instead of %v", ErrTag, t, Tag{Number: uint8(tag), Context: true, Form: form}))
	default:
		c.at += n
	}
}

// primitive steps over a primitive and returns its tag and content.
func (c *Cursor) primitive(tag, application int) (Tag, []byte) {
	if c.err != nil {
		return Tag{}, nil
	}
	t, n, err := ParseTag(c.data[c.at:])
	if err != nil {
		c.fail(err)
		return Tag{}, nil
	}
	want := Tag{Number: uint8(application)}
	if tag >= 0 {
		want = Tag{Number: uint8(tag), Context: true}
	}
	if t.Form != Primitive || t.Number != want.Number || t.Context != want.Context {
		c.fail(fmt.Errorf("%w: %v instead of %v", ErrTag, t, want))
		return Tag{}, nil
	}
	if uint64(t.content()) > uint64(len(c.data)-c.at-n) {
		c.fail(ErrTruncated)
		return Tag{}, nil
	}
	c.at += n
	content := c.data[c.at : c.at+int(t.content())]
	c.at += len(content)
	return t, content
}

// sized is primitive for content of least to most octets.
func (c *Cursor) sized(tag, application, least, most int) []byte {
	t, content := c.primitive(tag, application)
	if c.err == nil && (len(content) < least || len(content) > most) {
		c.fail(fmt.Errorf("%w: %v with %d octets", ErrLength, t, len(content)))
	}
	if c.err != nil {
		return make([]byte, least)
	}
	return content
}

// Any steps over constructed data with its opening and closing tag and returns what is between
// them, encoded.
func (c *Cursor) Any(tag int) Any {
	c.Opening(tag)
	from := c.at
	for c.More() {
		c.skip()
	}
	content := c.data[from:c.at]
	c.Closing(tag)
	if c.err != nil {
		return nil
	}
	return content
}

// Rest steps over everything up to the end or the next closing tag, and returns it encoded.
func (c *Cursor) Rest() Any {
	from := c.at
	for c.More() {
		c.skip()
	}
	if c.err != nil {
		return nil
	}
	return c.data[from:c.at]
}

// skip steps over one element, with everything in it, and returns it.
func (c *Cursor) skip() []byte {
	from, depth := c.at, 0
	var open [MaxDepth]uint8 // numbers of the opening tags
	for c.err == nil {
		t, n, err := ParseTag(c.data[c.at:])
		switch {
		case err != nil:
			c.fail(err)
		case t.Form == Closing && (depth == 0 || open[depth-1] != t.Number): // clause 20.2.1.3.2
			c.fail(fmt.Errorf("%w: %v", ErrTag, t))
		case t.Form == Opening && depth == MaxDepth:
			c.fail(ErrDepth)
		case uint64(t.content()) > uint64(len(c.data)-c.at-n):
			c.fail(ErrTruncated)
		default:
			c.at += n + int(t.content())
			depth = nested(&open, depth, t)
		}
		if depth == 0 {
			break
		}
	}
	if c.err != nil {
		return nil
	}
	return c.data[from:c.at]
}

// nested returns how many tags are open behind a tag, and notes the number of one that opens.
func nested(open *[MaxDepth]uint8, depth int, t Tag) int {
	switch t.Form {
	case Opening:
		open[depth] = t.Number
		return depth + 1
	case Closing:
		return depth - 1
	case Primitive:
	}
	return depth
}
