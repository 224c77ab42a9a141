package identity_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/identity"
)

func TestARecordTokenIsForRecordingOnly(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	id := open(t, dir, accounts(t, dir, h), h)
	secret, err := id.Logins.IssueRecord(t.Context(), "telegraf", "/site/telegraf/")
	if err != nil {
		t.Fatal(err)
	}
	user, err := id.Logins.Recognise(t.Context(), identity.Record, secret)
	want := identity.User{Name: "record:telegraf", Role: identity.Nobody, Under: "site/telegraf"}
	if d := cmp.Diff(want, user); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := id.Logins.Recognise(t.Context(), identity.Token, secret); !fault.Is(err, fault.Refused) {
		t.Errorf("for everything else it gives %v", err)
	}
	if _, _, err := id.Logins.Login(t.Context(), secret); !fault.Is(err, fault.Refused) {
		t.Errorf("for a login it gives %v", err)
	}
	if _, err := id.Logins.IssueRecord(t.Context(), "telegraf", ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second one of the name gives %v", err)
	}
}

func TestRecordTokensAreListedAndRevoked(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	id := open(t, dir, accounts(t, dir, h), h)
	secrets := map[string]string{}
	for _, name := range []string{"b", "a"} {
		var err error
		if secrets[name], err = id.Logins.IssueRecord(t.Context(), name, "x"); err != nil {
			t.Fatal(err)
		}
	}
	names := func() (list []string) {
		tokens, err := id.Logins.RecordTokens(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, tk := range tokens {
			list = append(list, tk.Name+" "+tk.Under)
		}
		return list
	}
	if d := cmp.Diff([]string{"a x", "b x"}, names()); d != "" {
		t.Error(d)
	}
	if err := id.Logins.RevokeRecord(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := id.Logins.Recognise(t.Context(), identity.Record, secrets["a"]); !fault.Is(err, fault.Refused) {
		t.Errorf("the revoked token gives %v", err)
	}
	if d := cmp.Diff([]string{"b x"}, names()); d != "" {
		t.Error(d)
	}
	if err := id.Logins.RevokeRecord(t.Context(), "a"); !fault.Is(err, fault.NotFound) {
		t.Errorf("revoking it again gives %v", err)
	}
	for _, name := range []string{"", strings.Repeat("x", 60)} {
		if _, err := id.Logins.IssueRecord(t.Context(), name, ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("the name %q gives %v", name, err)
		}
	}
}
