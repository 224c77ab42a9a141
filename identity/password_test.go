package identity

import (
	"strings"
	"testing"
)

func TestAPasswordIsRecognisedByItsEncoding(t *testing.T) {
	const password = "four words make sense"
	a, b := hashPassword(password), hashPassword(password)
	if a == b || !strings.HasPrefix(a, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(a, "words") {
		t.Errorf("encoded as %s and %s", a, b)
	}
	for text, want := range map[string]bool{password: true, password + " ": false, "": false, "Four words make sense": false} {
		if got, err := verifyPassword(a, text); got != want || err != nil {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

func TestWhatIsNoEncodingIsAnError(t *testing.T) {
	good := hashPassword("four words make sense")
	for name, encoded := range map[string]string{
		"nothing":           "",
		"another method":    strings.Replace(good, "argon2id", "argon2i", 1),
		"another version":   strings.Replace(good, "v=19", "v=16", 1),
		"no passes":         strings.Replace(good, "t=2", "t=0", 1),
		"no threads":        strings.Replace(good, "p=1", "p=0", 1),
		"endless passes":    strings.Replace(good, "t=2", "t=4000000000", 1),
		"endless memory":    strings.Replace(good, "m=19456", "m=4000000000", 1),
		"no numbers":        strings.Replace(good, "m=19456", "m=x", 1),
		"a key that is cut": good[:strings.LastIndex(good, "$")+1],
		"no base64":         good + "!",
	} {
		if ok, err := verifyPassword(encoded, "four words make sense"); ok || err == nil {
			t.Errorf("%s: %v, %v; want an error", name, ok, err)
		}
	}
}

// A name that is not there must cost what one that is there costs, or the time would tell.
func TestNobodysPasswordCostsWhatOthersDo(t *testing.T) {
	parameters := func(encoded string) string { return strings.Join(strings.Split(encoded, "$")[:4], "$") }
	if got, want := parameters(nobodysPassword), parameters(hashPassword("four words make sense")); got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	if ok, err := verifyPassword(nobodysPassword, "anything"); ok || err != nil {
		t.Errorf("it is %v, %v", ok, err)
	}
}
