package point

import (
	"strconv"
	"time"
)

// Object encodes a JSON object field by field, for types encoded too often for package json. The zero Object
// is empty; Begin comes first, and nested objects are begun after their Name. It is used by one goroutine at
// a time.
type Object struct{ JSON []byte }

// Begin begins an object.
func (o *Object) Begin() { o.JSON = append(o.JSON, '{') }

// End ends the object last begun.
func (o *Object) End() { o.JSON = append(o.JSON, '}') }

// Name begins a field, whose name needs no escapes. Its value is appended to JSON next.
func (o *Object) Name(name string) {
	if o.JSON[len(o.JSON)-1] != '{' {
		o.JSON = append(o.JSON, ',')
	}
	o.JSON = append(append(append(o.JSON, '"'), name...), '"', ':')
}

// Text writes a text.
func (o *Object) Text(name, s string) {
	o.Name(name)
	o.JSON = AppendQuoted(o.JSON, s)
}

// Some writes a text unless it is empty.
func (o *Object) Some(name, s string) {
	if s != "" {
		o.Text(name, s)
	}
}

// Uint writes a number.
func (o *Object) Uint(name string, n uint64) {
	o.Name(name)
	o.JSON = strconv.AppendUint(o.JSON, n, 10)
}

// Int writes a number.
func (o *Object) Int(name string, n int64) {
	o.Name(name)
	o.JSON = strconv.AppendInt(o.JSON, n, 10)
}

// True writes true; nothing for false.
func (o *Object) True(name string, is bool) {
	if is {
		o.Name(name)
		o.JSON = append(o.JSON, "true"...)
	}
}

// Time writes a time of the years 0 to 9999 in the form of RFC 3339.
func (o *Object) Time(name string, t time.Time) {
	o.Name(name)
	o.JSON = append(t.AppendFormat(append(o.JSON, '"'), time.RFC3339Nano), '"')
}

// Moment writes a time unless it is zero.
func (o *Object) Moment(name string, t time.Time) {
	if !t.IsZero() {
		o.Time(name, t)
	}
}
