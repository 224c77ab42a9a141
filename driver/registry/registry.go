// Package registry reads drivers' point lists: CSV with a header, YAML in a file, or inline in the configuration. What the columns mean
// is the driver's, by a [Format]; how they are written is the same everywhere.
package registry

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/driver"
)

// Place is where an entry stands, to name it in problems.
type Place struct {
	Key  string // such as "registry[3]"
	File string // its file, "" for an inline list
	Row  int    // the line in the file, or in the text of an inline list, from 1; 0 if there are no lines
}

// Problem is what is wrong with one field of the entry that stands there, or with the entry if
// field is "". The field is a word of the driver, not one of the file. The label names the entry for people, "" if it has no name.
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

// inText has a problem of a list that stands as text in the configuration name its row.
func inText(p *driver.Problem) *driver.Problem {
	if p.File == "" && p.Row > 0 && !p.Note {
		p.Text = fmt.Sprintf("row %d: %s", p.Row, p.Text)
	}
	return p
}

// Wrong reports whether there is more among problems than notes.
func Wrong(problems []error) bool {
	return slices.ContainsFunc(problems, func(err error) bool {
		p, ok := errors.AsType[*driver.Problem](err)
		return !ok || !p.Note
	})
}

// Format is what the registry of a driver holds: entries of type E, whose fields are texts that
// the driver checks later, so that every problem of a registry is found in one pass. It does not
// change after it was made, and is safe for concurrent use.
type Format[E any] struct {
	Noun    string // what an entry is, such as "register"
	Needs   string // what an entry has at least, such as "name, address and type"
	Known   string // the columns that a message about an unknown one offers
	Example string // name of a file, for messages

	// Columns says which field a column means, by its name in lower case with "_" for a space.
	// Several columns may mean the same field: what is not empty counts.
	Columns map[string]func(e *E) *string
	Ignored []string // columns that say nothing to the driver
	Tags    func(e *E) *map[string]string
	Place   func(e *E) *Place
	Label   func(e *E) string // the entry's name for people
}

// problem is what is wrong with a field of an entry. The field may be any word of the file.
func (f *Format[E]) problem(e *E, field, text string) error {
	err := f.Place(e).Problem(field, f.Label(e), text)
	if p, ok := errors.AsType[*driver.Problem](err); ok && field != "" && f.Columns[normal(field)] == nil {
		p.Kind = "a column or key is wrong"
	}
	return err
}

// normal returns a column's name as Columns writes it.
func normal(column string) string {
	column = strings.Trim(column, " \t\"\u00a0\ufeff")
	return strings.ReplaceAll(strings.ToLower(column), " ", "_")
}

func (f *Format[E]) ignored(column string) bool {
	return column == "" || slices.Contains(f.Ignored, column)
}

// Set gives the field that a column means, by its name in Columns, its value. An unknown column is
// an error that says which there are.
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

// Tag gives an entry a free label. An empty one is none.
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

// setTags reads "equip=boiler; floor=2".
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
