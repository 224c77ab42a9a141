package destination

import (
	"math"
	"time"

	"voltbus/point"
)

// AppendDocument appends a row as an object in JSON: the time under a name of the destination's, then point, quality, value or text, unit
// and tags. A number or truth value, as 0 or 1, is "value"; a text, or a number that JSON cannot represent, is "text"; so each has one type.
func AppendDocument(b []byte, timeName string, r *Row) []byte {
	b = append(append(b, `{"`...), timeName...)
	b = append(b, `":"`...)
	b = time.UnixMicro(r.Time).UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = point.AppendQuoted(append(b, `","point":`...), r.Name)
	b = append(b, `,"quality":"`...)
	b = append(b, r.Quality.String()...)
	b = append(b, '"')
	switch r.Value.Kind() {
	case point.Text:
		b = r.Value.AppendJSON(append(b, `,"text":`...))
	case point.Bool:
		b = append(append(b, `,"value":`...), '0'+byte(r.Value.Bits()&1))
	case point.Float, point.Int:
		name := `,"value":`
		if n, _ := r.Value.Number(); math.IsNaN(n) || math.IsInf(n, 0) {
			name = `,"text":`
		}
		b = r.Value.AppendJSON(append(b, name...))
	case point.None:
	}
	if r.Unit != "" {
		b = point.AppendQuoted(append(b, `,"unit":`...), r.Unit)
	}
	for _, t := range r.Tags {
		b = append(append(append(b, `,"`...), t.Name...), `":`...)
		b = point.AppendQuoted(b, t.Text)
	}
	return append(b, '}')
}
