package shell

import "testing"

func TestAttackTextOfADeviceTurnsTheDirectionOfATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"fan\u202egpj.exe": "fan·gpj.exe", "a\u2066b\u2069": "a·b·", "ad\u200bmin": "ad·min", "\ufeffx": "·x", "a\x1b[31m\n\u2028": "a·[31m··",
		"Zürich 温度 שלום": "Zürich 温度 שלום", "👩‍🔧": "👩‍🔧",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
