package identity_test

import (
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/identity"
)

func TestAPrincipalIsWrittenAndReadBack(t *testing.T) {
	for text, want := range map[string]identity.Principal{
		"agent:weather":                                {Kind: identity.AgentKind, Name: "weather"},
		"agent:campus/weather.v2":                      {Kind: identity.AgentKind, Name: "weather.v2", Node: "campus"},
		"person:ada@example.org":                       {Kind: identity.PersonKind, Name: "ada@example.org"},
		"person:north_2/ada@campus":                    {Kind: identity.PersonKind, Name: "ada@campus", Node: "north_2"},
		"person:campus/zoë":                            {Kind: identity.PersonKind, Name: "zoë", Node: "campus"},
		"agent:-odd-/" + "a":                           {Kind: identity.AgentKind, Name: "a", Node: "-odd-"},
		"agent:" + long(64, "n") + "/" + long(64, "a"): {Kind: identity.AgentKind, Name: long(64, "a"), Node: long(64, "n")},
	} {
		got, err := identity.ParsePrincipal(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q is read as %+v and written %q, %v; want %+v", text, got, got.String(), err, want)
		}
	}
	if nobody := (identity.Principal{}).String(); nobody != "" {
		t.Errorf("nobody is written %q", nobody)
	}
}

func TestWhatCanBeNobodyIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "weather", "agent:", "agent:/weather", "agent:campus/", "agent:campus/a/b", "agent:node", "agent:@campus", "agent:a@campus",
		"node:campus/x", "token:campus/gate", "Agent:campus/x", "agent:cam.pus/x", "agent:campus/x\n2026 agent:y did it", "agent:cam\x1b[2Jpus/x",
		"person:campus/ada\x00", "person:campus/<b>", "agent:campus/wéather", "person:campus/a\u202eb", "person:" + long(65, "n") + "/ada", "agent:campus/" + long(65, "a"),
		"agent:campus/" + long(1<<20, "a"),
	} {
		p, err := identity.ParsePrincipal(text)
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%.60q is taken as %+v, %v", text, p, err)
		} else if strings.ContainsAny(err.Error(), "\n\x1b\x00") || len(err.Error()) > 500 {
			t.Errorf("the error of %.60q repeats what a log must not hold: %q", text, err)
		}
	}
}

// A person of this node may be called ada@campus, so an at sign cannot say of which node somebody is.
func TestAttackNobodyOfThisNodeIsWrittenLikeSomebodyOfAnother(t *testing.T) {
	here, err := identity.ParsePrincipal("person:ada@campus")
	if err != nil {
		t.Fatal(err)
	}
	there := identity.Principal{Kind: identity.PersonKind, Name: "ada", Node: "campus"}
	if here.Node != "" || here.String() == there.String() {
		t.Errorf("%+v and %+v are written alike", here, there)
	}
}

func TestAnAccountOfTheSameNameElsewhereIsTheSamePerson(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"person:ada", "person:region/ada", true},
		{"person:campus/ada", "person:region/Ada", true},
		{"person:ada", "person:eve", false},
		{"person:ada", "agent:region/ada", false},
		{"agent:region/ada", "agent:ada", false},
		{"agent:@campus", "agent:@campus", true},
		{"agent:@campus", "person:ada", false},
	} {
		if got := identity.SamePerson(tt.a, tt.b); got != tt.same {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, got, tt.same)
		}
	}
}

func long(n int, of string) string { return strings.Repeat(of, n) }
