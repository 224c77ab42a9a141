package modbustool

import (
	"slices"
	"testing"
)

func TestACommaInBracketsBelongsToItsType(t *testing.T) {
	var list []string
	flag := newTypeList(&list, []string{"uint16"})
	if flag.String() != "[uint16]" {
		t.Errorf("the default is %s", flag)
	}
	for _, text := range []string{"string[8,latin1],int16", "float32"} {
		if err := flag.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"string[8,latin1]", "int16", "float32"}; !slices.Equal(list, want) {
		t.Errorf("the types are %q, want %q", list, want)
	}
}
