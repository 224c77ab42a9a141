package all

import "testing"

func TestEveryKindIsComplete(t *testing.T) {
	kinds := Kinds()
	for _, name := range []string{"modbus", "sim"} {
		k, found := kinds[name]
		if !found || k.Name != name || k.Doc == "" || k.Dial == nil || k.NewConfig == nil || k.NewConfig() == nil {
			t.Errorf("kind %q is %+v, want it complete", name, k)
		}
	}
}
