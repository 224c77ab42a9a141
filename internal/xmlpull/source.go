package xmlpull

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// source is the part of a document read so far.
type source struct {
	limits Limits
	in     io.Reader
	err    error // of in, or the first one that was returned

	buf   []byte // data read and not dropped
	pos   int    // of the next token in it
	total int64  // bytes read
	lines int    // line ends in dropped data
	mark  int64  // bytes of the byte order mark
	begun bool   // the first bytes have been examined
	keep  []byte // memory for texts and values that differ from their form in the document
}

// Problem returns an error that names the current line.
func (r *source) Problem(format string, args ...any) error {
	line := 1 + r.lines + bytes.Count(r.buf[:r.pos], []byte{'\n'})
	return &Error{Line: line, Why: fmt.Sprintf(format, args...)}
}

// more reads more data, without moving the data from pos on. It reports whether there was any.
func (r *source) more() (bool, error) {
	if errors.Is(r.err, io.EOF) {
		return false, nil
	}
	if r.pos > 0 {
		r.lines += bytes.Count(r.buf[:r.pos], []byte{'\n'})
		r.buf = r.buf[:copy(r.buf, r.buf[r.pos:])]
		r.pos = 0
	}
	if len(r.buf) == cap(r.buf) {
		if cap(r.buf) >= r.limits.Token {
			return false, r.Problem("a tag, comment or text of more than %d bytes", r.limits.Token)
		}
		r.buf = append(make([]byte, 0, min(2*cap(r.buf), r.limits.Token)), r.buf...)
	}
	for range 100 {
		n, err := r.in.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		if r.total += int64(n); r.total > r.limits.Size {
			return false, r.Problem("a document of more than %d bytes", r.limits.Size)
		}
		switch {
		case errors.Is(err, io.EOF):
			r.err = io.EOF
			return n > 0, nil
		case err != nil:
			return n > 0, err
		case n > 0:
			return true, nil
		}
	}
	return false, io.ErrNoProgress
}

// begin examines the first bytes.
func (r *source) begin() error {
	for len(r.buf)-r.pos < 4 {
		if more, err := r.more(); err != nil {
			return err
		} else if !more {
			break
		}
	}
	r.begun = true
	head := r.buf[r.pos:]
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		r.pos += 3
		r.mark = 3
	case bytes.HasPrefix(head, []byte("\xFE\xFF")), bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.IndexByte(head[:min(2, len(head))], 0) >= 0:
		return r.Problem("the document is not in UTF-8")
	}
	return nil
}

// upto reads until mark, which follows the first skip bytes, and returns what is in between.
func (r *source) upto(skip int, mark, what string) ([]byte, error) {
	from := skip
	for {
		if len(r.buf)-r.pos > from {
			if i := bytes.Index(r.buf[r.pos+from:], []byte(mark)); i >= 0 {
				body := r.buf[r.pos+skip : r.pos+from+i]
				r.pos += from + i + len(mark)
				return body, nil
			}
			from = max(skip, len(r.buf)-r.pos-len(mark)+1)
		}
		if more, err := r.more(); err != nil {
			return nil, err
		} else if !more {
			return nil, r.Problem("%s without an end", what)
		}
	}
}

// tag returns the whole tag that begins at pos, without "<" and ">", and moves past it.
func (r *source) tag(skip int) ([]byte, error) {
	var quote byte
	for i := skip; ; i++ {
		if r.pos+i >= len(r.buf) {
			if more, err := r.more(); err != nil {
				return nil, err
			} else if !more {
				return nil, r.Problem("a tag without an end")
			}
		}
		switch c := r.buf[r.pos+i]; {
		case c == '<':
			return nil, r.Problem("< within a tag: write &lt;")
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"', c == '\'':
			quote = c
		case c == '>':
			body := r.buf[r.pos+skip : r.pos+i]
			r.pos += i + 1
			return body, nil
		}
	}
}
