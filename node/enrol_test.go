package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/children"
	"voltbus/operation/parent"
)

// named opens and runs a node of a name in a folder of its own.
func named(t testing.TB, name, text string) (*running, string) {
	t.Helper()
	dir := t.TempDir()
	cfg := load(t, dir, text)
	cfg.Node.Name = name
	return run(t, cfg), cfg.Node.Data
}

const listenNowhere = "listen: {http: 127.0.0.1:0, bus: off}\n"

// family is a parent and a child that knows nothing of it yet.
type family struct {
	t             testing.TB
	parent, child *running
	childData     string
}

func newFamily(t testing.TB) *family {
	t.Helper()
	f := &family{t: t}
	f.parent, _ = named(t, "campus", listenAnywhere)
	f.child, f.childData = named(t, "plant", listenNowhere)
	return f
}

// invite makes a code.
func (f *family) invite(w client.NewInvitation) string {
	f.t.Helper()
	made, err := client.Do(context.Background(), f.parent.Client, children.Invite, w.Arguments())
	if err != nil {
		f.t.Fatal(err)
	}
	return made.Code
}

// stands waits until the child says that it is in a state.
func (f *family) stands(state string) {
	f.t.Helper()
	eventually(f.t, "the child is "+state, func() bool {
		p, err := client.Do(context.Background(), f.child.Client, parent.Get, struct{}{})
		return err == nil && p.State == state
	})
}

func TestAChildThatIsApprovedBeforehandJoinsAtOnce(t *testing.T) {
	f := newFamily(t)
	p, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{Approved: true, Prefix: "campus/{name}"}), Name: ""})
	if err != nil || p.State != "approved" || p.Parent != "campus" || p.Name != "plant" || p.Prefix != "campus/plant" {
		t.Fatalf("the parent is %+v, %v", p, err)
	}
	c, err := client.Do(t.Context(), f.parent.Client, children.Get, children.Node{Name: "plant"})
	if err != nil || c.State != "approved" || c.Print != p.Key || c.Prefix != "campus/plant" || c.By != "" {
		t.Errorf("the child is %+v, %v", c, err)
	}
	told := f.parent.told(client.AuditFilter{Action: "child.join"})
	if len(told) != 1 || !strings.HasPrefix(told[0], "invitation:") || !strings.Contains(told[0], " ok ") || !strings.Contains(told[0], p.Key) {
		t.Errorf("the audit log says %q", told)
	}
	if told := f.child.told(client.AuditFilter{Action: "parent.join"}); len(told) != 1 || !strings.Contains(told[0], p.Fingerprint) {
		t.Errorf("the child's audit log says %q", told)
	}
}

func TestNothingListensOnTheChild(t *testing.T) {
	f := newFamily(t)
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{Approved: true}), Name: ""}); err != nil {
		t.Fatal(err)
	}
	if f.child.BusAddr() != "" {
		t.Errorf("the child listens on %s", f.child.BusAddr())
	}
}

func TestAChildWaitsUntilItIsApproved(t *testing.T) {
	f := newFamily(t)
	p, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{}), Name: "north"})
	if err != nil || p.State != "pending" || p.Name != "north" {
		t.Fatalf("the parent is %+v, %v", p, err)
	}
	eventually(t, "the child heard why", func() bool {
		p, err := client.Do(t.Context(), f.child.Client, parent.Get, struct{}{})
		return err == nil && strings.Contains(p.Why, "waits until somebody approves it")
	})
	if h := f.parent.Node.Health(t.Context()); h.Status != "degraded" {
		t.Errorf("the health of a node where another one waits is %+v", h)
	}
	if c, err := f.parent.DecideChild(t.Context(), "north", "approve"); err != nil || c.State != "approved" || c.By != "admin" {
		t.Fatalf("the child is %+v, %v", c, err)
	}
	f.stands("approved")
}

func TestAChildThatIsDeniedHearsIt(t *testing.T) {
	f := newFamily(t)
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{}), Name: ""}); err != nil {
		t.Fatal(err)
	}
	c, err := f.parent.DecideChild(t.Context(), "plant", "deny")
	if err != nil {
		t.Fatal(err)
	}
	f.stands("revoked")
	if _, err := f.parent.DecideChild(t.Context(), "plant", "deny"); !fault.Is(err, fault.Conflict) {
		t.Errorf("denied once more: %v", err)
	}
	if told := f.parent.told(client.AuditFilter{Action: "child.deny"}); len(told) != 2 || !strings.Contains(told[0], c.Print) {
		t.Errorf("the audit log says %q", told)
	}
}

func TestACodeWorksOnce(t *testing.T) {
	f := newFamily(t)
	code := f.invite(client.NewInvitation{Approved: true})
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: code, Name: ""}); err != nil {
		t.Fatal(err)
	}
	other, _ := named(t, "other", listenNowhere)
	_, err := client.Do(t.Context(), other.Client, parent.Join, parent.Code{Code: code, Name: ""})
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "used already") {
		t.Errorf("a used code: %v", err)
	}
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{}), Name: ""}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a child joins twice: %v", err)
	}
}

func TestACodeThatIsCancelledOrUnknownIsRefused(t *testing.T) {
	f := newFamily(t)
	made, err := client.Do(t.Context(), f.parent.Client, children.Invite, client.NewInvitation{}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), f.parent.Client, children.Cancel, children.ID{ID: made.Invitation.ID}); err != nil {
		t.Fatal(err)
	}
	_, err = client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: made.Code, Name: ""})
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "was cancelled") {
		t.Errorf("a cancelled code: %v", err)
	}
	typo := []byte(f.invite(client.NewInvitation{}))
	typo[20] ^= 1
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: string(typo), Name: ""}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a code with a typing error: %v", err)
	}
	if _, err := client.Do(t.Context(), f.parent.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{}), Name: ""}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a node joins itself: %v", err)
	}
	if told := f.child.told(client.AuditFilter{}); strings.Contains(strings.Join(told, "\n"), "vb1") {
		t.Errorf("a code is in the audit log: %q", told)
	}
}

func TestANameThatIsTakenLeavesTheCodeOpen(t *testing.T) {
	f := newFamily(t)
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{Approved: true}), Name: ""}); err != nil {
		t.Fatal(err)
	}
	other, _ := named(t, "Plant", listenNowhere)
	code := f.invite(client.NewInvitation{Approved: true})
	if _, err := client.Do(t.Context(), other.Client, parent.Join, parent.Code{Code: code, Name: ""}); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a name that is taken: %v", err)
	}
	if p, err := client.Do(t.Context(), other.Client, parent.Join, parent.Code{Code: code, Name: "second"}); err != nil || p.Name != "second" {
		t.Errorf("the parent is %+v, %v", p, err)
	}
}

func TestARevokedChildHearsItWhenItReturns(t *testing.T) {
	f := newFamily(t)
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{}), Name: ""}); err != nil {
		t.Fatal(err)
	}
	cfg := f.child.Config()
	f.child.halt()
	if _, err := f.parent.DecideChild(t.Context(), "plant", "revoke"); err != nil {
		t.Fatal(err)
	}
	f.child = run(t, cfg)
	f.stands("revoked")
}

func TestAChildTakesANewKeyAndTheOldOneIsRefused(t *testing.T) {
	f := newFamily(t)
	before, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{Approved: true}), Name: ""})
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(filepath.Join(f.childData, "parent.nk"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := client.Do(t.Context(), f.child.Client, parent.Rotate, struct{}{})
	if err != nil || after.Key == before.Key {
		t.Fatalf("the parent is %+v, %v", after, err)
	}
	c, err := client.Do(t.Context(), f.parent.Client, children.Get, children.Node{Name: "plant"})
	if err != nil || c.Print != after.Key || c.Keys != 2 {
		t.Errorf("the child is %+v, %v", c, err)
	}
	eventually(t, "the audit log has it", func() bool {
		told := f.parent.told(client.AuditFilter{Action: "child.rotate"})
		return len(told) == 1 && strings.HasPrefix(told[0], "child:plant") && strings.Contains(told[0], " ok ")
	})
	// Whoever has a copy of the old key hears that it is worthless.
	cfg := f.child.Config()
	f.child.halt()
	if err := os.WriteFile(filepath.Join(f.childData, "parent.nk"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	f.child = run(t, cfg)
	if _, err := client.Do(t.Context(), f.child.Client, parent.Rotate, struct{}{}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "was replaced") {
		t.Errorf("the old key: %v", err)
	}
}

func TestAChildLeaves(t *testing.T) {
	f := newFamily(t)
	if err := client.Tell(t.Context(), f.child.Client, parent.Leave, struct{}{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a parent: %v", err)
	}
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{}), Name: ""}); err != nil {
		t.Fatal(err)
	}
	if err := client.Tell(t.Context(), f.child.Client, parent.Leave, struct{}{}); err != nil {
		t.Fatal(err)
	}
	if p, err := client.Do(t.Context(), f.child.Client, parent.Get, struct{}{}); err != nil || p.Member {
		t.Errorf("the parent is %+v, %v", p, err)
	}
	if _, err := os.Stat(filepath.Join(f.childData, "parent.nk")); !os.IsNotExist(err) {
		t.Errorf("the key: %v", err)
	}
	if err := client.Tell(t.Context(), f.parent.Client, children.Remove, children.Node{Name: "plant"}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{Approved: true}), Name: ""}); err != nil {
		t.Errorf("joined again: %v", err)
	}
}

func TestOnlyAnAdministratorLetsNodesIn(t *testing.T) {
	f := newFamily(t)
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{}), Name: ""}); err != nil {
		t.Fatal(err)
	}
	token, err := f.parent.Issue(t.Context(), identity.User{Name: "eve", Role: identity.Engineer})
	if err != nil {
		t.Fatal(err)
	}
	eve, err := client.New(f.parent.HTTPAddr(), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, inviteErr := client.Do(t.Context(), eve, children.Invite, client.NewInvitation{}.Arguments())
	_, approveErr := eve.DecideChild(t.Context(), "plant", "approve")
	_, joinErr := client.Do(t.Context(), eve, parent.Join, parent.Code{Code: "vb1", Name: ""})
	for _, err := range []error{inviteErr, approveErr, joinErr, client.Tell(t.Context(), eve, children.Remove, children.Node{Name: "plant"}), client.Tell(t.Context(), eve, parent.Leave, struct{}{})} {
		if !fault.Is(err, fault.Refused) {
			t.Errorf("an engineer gets %v", err)
		}
	}
}
