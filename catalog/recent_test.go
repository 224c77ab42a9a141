package catalog_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/identity"
)

func TestEachChangeOfACredentialCountsAtOnce(t *testing.T) {
	a, ctx := open(t, t.TempDir()).Accounts, t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	hash := func(n byte) identity.Hash { return identity.Hash{0: n} }
	add := func(n byte, purpose identity.Purpose) {
		t.Helper()
		must(a.PutUser(ctx, identity.User{Name: "ann", Role: identity.Operator}))
		must(a.PutCredential(ctx, identity.Credential{Hash: hash(n), User: identity.User{Name: "ann"}, Purpose: purpose, Created: clock(), Expires: clock().Add(time.Hour)}))
		c, err := a.Credential(ctx, hash(n))
		if err != nil || c.User.Role != identity.Operator {
			t.Fatalf("the credential is %+v, %v", c, err)
		}
	}
	for n, tt := range []struct {
		name   string
		change func() error
		is     identity.Role // Nobody: it is gone
	}{
		{"a role", func() error { return a.PutUser(ctx, identity.User{Name: "ann", Role: identity.Viewer}) }, identity.Viewer},
		{"it is dropped", func() error { return a.DropCredential(ctx, hash(1)) }, identity.Nobody},
		{"all of the user are dropped", func() error { return a.DropTokens(ctx, "ann") }, identity.Nobody},
		{"it has expired", func() error { return a.DropExpired(ctx, clock().Add(2*time.Hour)) }, identity.Nobody},
		{"a new password", func() error { return a.PutPassword(ctx, identity.User{Name: "ann", Role: identity.Operator}, "x") }, identity.Nobody},
		{"the user is dropped", func() error { return a.DropUser(ctx, "ann") }, identity.Nobody},
	} {
		add(byte(n), identity.Session)
		must(tt.change())
		c, err := a.Credential(ctx, hash(byte(n)))
		if gone := tt.is == identity.Nobody; gone && !fault.Is(err, fault.NotFound) || !gone && c.User.Role != tt.is {
			t.Errorf("%s: the credential is %+v, %v", tt.name, c, err)
		}
	}
}

func TestACredentialThatIsDroppedWhileOthersAskIsGone(t *testing.T) {
	a, ctx := open(t, t.TempDir()).Accounts, t.Context()
	if err := a.PutUser(ctx, identity.User{Name: "ann", Role: identity.Operator}); err != nil {
		t.Fatal(err)
	}
	hash := identity.Hash{1}
	var over atomic.Bool
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for !over.Load() {
				if _, err := a.Credential(ctx, hash); err != nil && !fault.Is(err, fault.NotFound) {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 100 {
		err := a.PutCredential(ctx, identity.Credential{Hash: hash, User: identity.User{Name: "ann"}, Purpose: identity.Token, Created: clock()})
		if err == nil {
			_, err = a.Credential(ctx, hash)
		}
		if err == nil {
			err = a.DropCredential(ctx, hash)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Credential(ctx, hash); !fault.Is(err, fault.NotFound) {
			t.Fatalf("it was dropped and is still there: %v", err)
		}
	}
	over.Store(true)
	all.Wait()
}
