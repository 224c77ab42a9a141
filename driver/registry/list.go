package registry

import (
	"slices"

	"voltbus/driver"
)

// List is the value of "registry" in the configuration of a device: its points, in the configuration itself or in a file. A driver's own type
// embeds it, and decodes it with the driver's Format.
type List[E any] struct {
	File    string // name of a CSV or YAML file; "" for an inline list
	Entries []E    // the inline list; after Load also the content of the file

	empty    bool    // it is an explicit empty list
	problems []error // found while decoding, each a *driver.Problem; reported by Load
}

// MarshalYAML is the inverse of Format.Decode.
func (l List[E]) MarshalYAML() (any, error) {
	if l.File != "" {
		return l.File, nil
	}
	return l.Entries, nil
}

// Load reads the file, if the list names one, and returns its problems, or those of the inline list.
func (l *List[E]) Load(f *Format[E], files driver.Files) []error {
	problems := slices.Clone(l.problems)
	if l.File != "" {
		entries, found := f.ReadFile(files, "registry", l.File)
		l.Entries = entries
		problems = append(problems, found...)
	}
	return problems
}

// Missing reports whether nothing was specified: no file, no points, and no explicit empty list.
func (l *List[E]) Missing() bool { return l.None() && !l.empty }

// None reports whether there is neither a file nor a point, right or wrong.
func (l *List[E]) None() bool { return len(l.Entries) == 0 && !Wrong(l.problems) && l.File == "" }
