package strictyaml

import (
	"reflect"
	"slices"
	"strings"
)

// field is a key that a struct has.
type field struct {
	name    string
	index   []int
	enum    []string // the only strings allowed; nil for any
	example string   // what could be written
}

// fieldsOf lists the keys of a struct, those of inlined structs among them, in order. Of several
// with one name the first counts.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for sf := range t.Fields() {
		name, options, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		inline := slices.Contains(strings.Split(options, ","), "inline")
		if name == "-" || (!sf.IsExported() && !inline) {
			continue
		}
		if inline && sf.Type.Kind() == reflect.Struct {
			for _, f := range fieldsOf(sf.Type) {
				if _, hidden := find(fields, f.name); hidden {
					continue
				}
				f.index = append(slices.Clone(sf.Index), f.index...)
				fields = append(fields, f)
			}
			continue
		}
		if name == "" {
			name = strings.ToLower(sf.Name)
		}
		f := field{name: name, index: sf.Index, example: sf.Tag.Get("example")}
		if enum := sf.Tag.Get("enum"); enum != "" {
			f.enum = strings.Split(enum, ",")
		}
		fields = append(fields, f)
	}
	return fields
}

func find(fields []field, name string) (field, bool) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

func suggestKey(name string, fields []field) string {
	allowed := make([]string, len(fields))
	for i, f := range fields {
		allowed[i] = f.name
	}
	return Suggest(name, allowed)
}

// Suggest returns what to write instead of name: the closest allowed word, or all.
func Suggest(name string, allowed []string) string {
	if len(allowed) == 0 {
		return "remove it"
	}
	best, distance := "", 1+len(name)/3
	for _, a := range allowed {
		if n := editDistance(strings.ToLower(name), a, distance); n <= distance && (best == "" || n < distance) {
			best, distance = a, n
		}
	}
	if best != "" {
		return `did you mean "` + best + `"?`
	}
	return "write " + oneOf(allowed)
}

// oneOf lists words: "a", "a or b", "one of a, b, c".
func oneOf(words []string) string {
	switch len(words) {
	case 1:
		return words[0]
	case 2:
		return words[0] + " or " + words[1]
	}
	return "one of " + strings.Join(words, ", ")
}

// editDistance counts the letters to insert, remove, change or transpose, and gives up with limit+1 when the
// lengths alone differ by more.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 0
			if a[i-1] != b[j-1] {
				change = 1
			}
			n := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, rows[i-2][j-2]+1)
			}
			rows[i][j] = n
		}
	}
	return rows[len(a)][len(b)]
}
