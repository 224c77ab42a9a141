package all

import "testing"

func TestEveryKindIsCompleteAndInOrder(t *testing.T) {
	last := ""
	for _, k := range Kinds() {
		if k.Name <= last || k.Doc == "" || k.Dial == nil || k.NewConfig == nil || k.NewConfig() == nil {
			t.Errorf("kind %q behind %q is %+v, want it complete and in order", k.Name, last, k)
		}
		last = k.Name
	}
}
