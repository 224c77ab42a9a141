package modbustool

import "strings"

// typeList is a flag with comma-separated types. A comma in brackets belongs to its type: string[8,latin1].
type typeList struct {
	list *[]string
	set  bool // the defaults have been replaced
}

func newTypeList(list *[]string, otherwise []string) *typeList {
	*list = otherwise
	return &typeList{list: list}
}

// String implements pflag.Value.
func (t *typeList) String() string { return "[" + strings.Join(*t.list, ",") + "]" }

// Type implements pflag.Value.
func (t *typeList) Type() string { return "strings" }

// Set implements pflag.Value.
func (t *typeList) Set(text string) error {
	if !t.set {
		*t.list, t.set = nil, true
	}
	begin, depth := 0, 0
	for i, c := range text {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				*t.list = append(*t.list, strings.TrimSpace(text[begin:i]))
				begin = i + 1
			}
		}
	}
	*t.list = append(*t.list, strings.TrimSpace(text[begin:]))
	return nil
}
