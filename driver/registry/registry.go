// Package registry reads drivers' point lists: CSV with a header, YAML in a file, or inline in the configuration. The driver defines
// the meaning of the columns by a [Format]; the syntax is the same everywhere.
package registry

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/driver"
)

// Place is the location of an entry, to name it in problems.
type Place struct {
	Key  string // such as "registry[3]"
	File string // its file, "" for an inline list
	Row  int    // the line in the file, or in the text of an inline list, from 1; 0 if there are no lines
}

// Problem is what is wrong with one field of the entry at a place, or with the entry if field is "". The field is the driver's
// word, not one of the file. The label names the entry for people, "" if it has no name.
func (p Place) Problem(field, label, text string) error {
	key := p.Key
	if field != "" {
		key += "." + field
	}
	if label != "" {
		text = fmt.Sprintf("(%s) %s", label, text)
	}
	kind := "is wrong"
	if field != "" {
		kind = field + " is wrong"
	}
	return inText(&driver.Problem{Key: key, File: p.File, Row: p.Row, Text: text, Kind: kind})
}

// inText adds the row to a problem of a list that is text within the configuration.
func inText(p *driver.Problem) *driver.Problem {
	if p.File == "" && p.Row > 0 && !p.Note {
		p.Text = fmt.Sprintf("row %d: %s", p.Row, p.Text)
	}
	return p
}

// Wrong reports whether the problems include more than notes.
func Wrong(problems []error) bool {
	return slices.ContainsFunc(problems, func(err error) bool {
		p, ok := errors.AsType[*driver.Problem](err)
		return !ok || !p.Note
	})
}

// Format describes the registry of a driver: entries of type E, whose fields are strings that the driver
// checks later, so that every problem of a registry is found in one pass. It is immutable, and safe for
// concurrent use.
type Format[E any] struct {
	Noun    string // what an entry is, such as "register"
	Needs   string // what an entry requires, such as "name, address and type"
	Known   string // the columns offered in a message about an unknown one
	Example string // a file name for messages

	// Columns maps columns to fields, by their names in lower case with "_" for a space. Several columns may
	// map to the same field: the non-empty one counts.
	Columns map[string]func(e *E) *string
	Ignored []string // columns that the driver ignores
	Tags    func(e *E) *map[string]string
	Place   func(e *E) *Place
	Label   func(e *E) string // the entry's name for people
}

// problem is what is wrong with a field of an entry. The field may be any word in the file.
func (f *Format[E]) problem(e *E, field, text string) error {
	err := f.Place(e).Problem(field, f.Label(e), text)
	if p, ok := errors.AsType[*driver.Problem](err); ok && field != "" && f.Columns[normal(field)] == nil {
		p.Kind = "a column or key is wrong"
	}
	return err
}

// normal returns a column's name in the form of Columns.
func normal(column string) string {
	column = strings.Trim(column, " \t\"\u00a0\ufeff")
	return strings.ReplaceAll(strings.ToLower(column), " ", "_")
}

func (f *Format[E]) ignored(column string) bool {
	return column == "" || slices.Contains(f.Ignored, column)
}

// Set sets the field of a column, by its name in Columns. For an unknown column the error lists the known
// ones.
func (f *Format[E]) Set(e *E, column, value string) error {
	value = strings.TrimSpace(value)
	if tag, isTag := strings.CutPrefix(column, "tag:"); isTag {
		f.Tag(e, tag, value)
		return nil
	}
	if column == "tags" {
		return f.setTags(e, value)
	}
	field, known := f.Columns[column]
	if !known {
		return fmt.Errorf("%q is not known; write %s, or remove it", column, f.Known)
	}
	if p := field(e); value != "" || *p == "" {
		*p = value
	}
	return nil
}

// Tag sets a free label of an entry. An empty one is ignored.
func (f *Format[E]) Tag(e *E, name, value string) {
	if value == "" {
		return
	}
	tags := f.Tags(e)
	if *tags == nil {
		*tags = make(map[string]string)
	}
	(*tags)[name] = value
}

// setTags parses "equip=boiler; floor=2".
func (f *Format[E]) setTags(e *E, list string) error {
	for pair := range strings.SplitSeq(list, ";") {
		name, value, found := strings.Cut(pair, "=")
		switch {
		case strings.TrimSpace(pair) == "":
		case !found || strings.TrimSpace(name) == "":
			return fmt.Errorf("%q is not a tag; write name=value, several with ; between", strings.TrimSpace(pair))
		default:
			f.Tag(e, strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return nil
}
