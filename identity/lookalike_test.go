package identity

import (
	"context"
	"strings"
	"testing"

	"voltbus/fault"
)

func TestAttackANameThatLooksLikeAnotherIsRefused(t *testing.T) {
	for name, words := range map[string]string{
		"аdmin": "U+0430", "admіn": "U+0456", "αda": "U+03B1", "adа": "U+0430", // one letter of another script
		"асе": "look like Latin", "ехо": "look like Latin", "οα": "look like Latin", "сор-1": "look like Latin", // all of another
		"ａｄｍｉｎ": "another form", "ﬁona": "another form", "ada１": "another form", "ada٣": "another form", "ªda": "another form",
	} {
		if err := checkLooks(personName(name)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+q is refused with %v, want %q", name, err, words)
		}
	}
	for _, name := range []string{"ad\u200bmin", "ad\u00admin", "admin\u202e", "a\u0301da\u0335", "ad\u2060min", "ad\ufe0fmin", "admin\u034f", "ad min", "аdmin\n"} { // seen by nobody
		if checkName(personName(name)) == nil && checkLooks(personName(name)) == nil {
			t.Errorf("%+q is a name", name)
		}
	}
	for _, name := range []string{"ada", "ada.lovelace@plant-1", "jürgen", "françois", "ирина", "дмитрий", "γιώργος", "田中さくら", "王小明", "김철수", "محمد", "אורי", "x1", "42"} {
		if err := checkName(personName(name)); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
		if err := checkLooks(personName(name)); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
	}
	if personName("Ju\u0308rgen") != personName("J\u00fcrgen") {
		t.Error("two normal forms of one name are two names")
	}
}

// nobody is a table of accounts without any.
type nobody struct{ Accounts }

func (nobody) Account(context.Context, string) (Account, error) {
	return Account{}, fault.E("test", fault.NotFound, "", errWrong)
}

func TestAttackANewPersonHasNoNameThatLooksLikeAnother(t *testing.T) {
	l := &Logins{accounts: nobody{}}
	_, err := l.SetPerson(t.Context(), Change{Name: "аdmin", Role: Viewer, Password: "correct horse battery"})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "U+0430") {
		t.Errorf("the person is admitted: %v", err)
	}
}
