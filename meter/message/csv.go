package message

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

var (
	errHeader = errors.New("the table has no header line: write meter,channel,end,value")
	errColumn = errors.New("a column is missing: write meter,channel,end,value")
)

// ReadCSV reads a table with a header line. Columns are meter, channel or readingType, end and value, in any order;
// others are an error. The index of a reading is the number of its record, from 0, without the header.
func ReadCSV(in io.Reader) (*List, error) {
	r := csv.NewReader(in)
	r.ReuseRecord, r.FieldsPerRecord = true, 0
	header, err := r.Read()
	if err != nil {
		return nil, errHeader
	}
	fields, err := columns(header)
	if err != nil {
		return nil, err
	}
	l := &List{}
	for {
		record, err := r.Read()
		if l.Len() >= MaxReadings && !errors.Is(err, io.EOF) { // records of a wrong width are kept as refusals, too
			return nil, ErrMany
		}
		switch wrong, is := errors.AsType[*csv.ParseError](err); {
		case errors.Is(err, io.EOF):
			return l, nil
		case is && errors.Is(wrong.Err, csv.ErrFieldCount):
			l.Add(nil, fmt.Errorf("%d fields where the header has %d", len(record), len(fields)))
			continue
		case err != nil:
			return nil, err
		}
		var t Text
		for i, at := range fields {
			*at(&t) = bytes.TrimSpace([]byte(record[i]))
		}
		reading, problem := t.Reading()
		l.Add(&reading, problem)
	}
}

// columns returns where the fields of a record belong.
func columns(header []string) ([]func(*Text) *[]byte, error) {
	known := map[string]func(*Text) *[]byte{
		"meter":       func(t *Text) *[]byte { return &t.Meter },
		"channel":     func(t *Text) *[]byte { return &t.Channel },
		"readingType": func(t *Text) *[]byte { return &t.Type },
		"end":         func(t *Text) *[]byte { return &t.End },
		"value":       func(t *Text) *[]byte { return &t.Value },
	}
	out := make([]func(*Text) *[]byte, len(header))
	for i, name := range header {
		name = strings.TrimSpace(strings.TrimPrefix(name, "\uFEFF"))
		if out[i] = known[name]; out[i] == nil {
			return nil, fmt.Errorf("column %.40q is not known, or stands twice: there are meter, channel or readingType, end and value", name)
		}
		delete(known, name)
	}
	if known["meter"] != nil || known["end"] != nil || known["value"] != nil {
		return nil, errColumn
	}
	return out, nil
}
