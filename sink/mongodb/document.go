package mongodb

import (
	"voltbus/point"
	wire "voltbus/protocol/mongodb"
	"voltbus/sink/destination"
)

const milli = 1000 // microseconds

// appendID appends the key of a row: dates of MongoDB have milliseconds, and the key all digits of the time.
func appendID(b []byte, r *destination.Row) []byte {
	b, at := wire.Within(b, "_id")
	b = wire.String(b, "point", r.Name)
	b = wire.Int64(b, "us", r.Time)
	return wire.End(b, at)
}

// appendFields appends a row as elements of a document.
func appendFields(b []byte, r *destination.Row) []byte {
	b = appendID(b, r)
	b = wire.String(b, "point", r.Name)
	ms := r.Time / milli
	if r.Time%milli < 0 {
		ms--
	}
	b = wire.Date(b, "time", ms)
	switch r.Value.Kind() {
	case point.Float:
		n, _ := r.Value.Number()
		b = wire.Double(b, "value", n)
	case point.Int, point.Bool:
		n, _ := r.Value.Int()
		b = wire.Int64(b, "value", n)
	case point.Text:
		b = wire.String(b, "text", r.Value.Text())
	case point.None:
	}
	b = wire.String(b, "quality", r.Quality.String())
	if r.Unit != "" {
		b = wire.String(b, "unit", r.Unit)
	}
	for _, t := range r.Tags {
		b = wire.String(b, t.Name, t.Text)
	}
	return b
}

// appendInsert appends a row as a document of the command insert.
func appendInsert(b []byte, r *destination.Row) []byte {
	b, at := wire.Begin(b)
	return wire.End(appendFields(b, r), at)
}

// appendReplace appends a row as an element of the command update, which replaces the document with its key, or inserts it.
func appendReplace(b []byte, r *destination.Row) []byte {
	b, all := wire.Begin(b)
	b, at := wire.Within(b, "q")
	b = wire.End(appendID(b, r), at)
	b, at = wire.Within(b, "u")
	b = wire.End(appendFields(b, r), at)
	return wire.End(wire.Bool(b, "upsert", true), all)
}
