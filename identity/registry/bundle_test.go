package registry_test

import (
	"testing"
	"time"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
)

// openChildren opens the children in a folder; what they know there comes back at the next call.
func openChildren(t *testing.T, dir string, h *hand) *registry.Children {
	t.Helper()
	c, err := catalog.Open(t.Context(), dir, h.now)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	children, err := registry.OpenChildren(t.Context(), c, h.now)
	must(t, err)
	return children
}

// bundled adds the child plant, whose bundle expires after 30 days.
func bundled(t *testing.T, r *registry.Children, h *hand) registry.Child {
	t.Helper()
	c, err := r.Add(t.Context(), registry.Child{Name: "plant", Public: publicKey(t), Prefix: "campus/plant", Expires: h.at.Add(registry.BundleLife)})
	must(t, err)
	return c
}

func TestABundleThatNobodyUsesExpiresAndSurvivesARestart(t *testing.T) {
	h, dir := newHand(), t.TempDir()
	made := bundled(t, openChildren(t, dir, h), h)
	h.at = h.at.Add(registry.BundleLife - time.Second)
	if c, err := openChildren(t, dir, h).Child("plant"); err != nil || c.Expired(h.at) || !c.Expires.Equal(made.Expires) {
		t.Errorf("a second before: %+v, %v", c, err)
	}
	h.at = h.at.Add(time.Second)
	if c, err := openChildren(t, dir, h).Child("plant"); err != nil || !c.Expired(h.at) || c.State != registry.ChildApproved {
		t.Errorf("then: %+v, %v", c, err)
	}
}

func TestANodeThatWasHereOnceDoesNotExpire(t *testing.T) {
	for name, come := range map[string]func(t *testing.T, r *registry.Children){
		"it was met": func(t *testing.T, r *registry.Children) { must(t, r.Met(t.Context(), "plant")) },
		"it took a key of its own": func(t *testing.T, r *registry.Children) {
			old, err := identity.OpenKey(t.TempDir() + "/old.nk")
			must(t, err)
			next, err := identity.OpenKey(t.TempDir() + "/next.nk")
			must(t, err)
			end := mustChild(t, r).Expires
			must(t, r.Remove(t.Context(), "plant"))
			_, err = r.Add(t.Context(), registry.Child{Name: "plant", Public: old.Public(), Expires: end})
			must(t, err)
			text := registry.RotateText("plant", old.Public(), next.Public())
			proof, err := next.Sign(text)
			must(t, err)
			consent, err := old.Sign(text)
			must(t, err)
			_, err = r.Rotate(t.Context(), "plant", next.Public(), proof, consent)
			must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, dir := newHand(), t.TempDir()
			r := openChildren(t, dir, h)
			bundled(t, r, h)
			come(t, r)
			h.at = h.at.AddDate(1, 0, 0)
			for _, r := range []*registry.Children{r, openChildren(t, dir, h)} {
				if c := mustChild(t, r); !c.Expires.IsZero() || c.Expired(h.at) {
					t.Errorf("after a year: %+v", c)
				}
			}
			_, err := r.Add(t.Context(), registry.Child{Name: "plant", Public: publicKey(t), Expires: h.at.Add(time.Hour)})
			if !fault.Is(err, fault.Conflict) {
				t.Errorf("its name is given to another: %v", err)
			}
		})
	}
}

func mustChild(t *testing.T, r *registry.Children) registry.Child {
	t.Helper()
	c, err := r.Child("plant")
	must(t, err)
	return c
}

func TestABundleIsRenewedUnderItsName(t *testing.T) {
	late := registry.BundleLife + time.Hour
	for name, test := range map[string]struct {
		after time.Duration
		renew func(r *registry.Children, known registry.Child, end time.Time) (registry.Child, error)
		life  time.Duration
		key   bool // it has another one
		kind  fault.Kind
	}{
		"by approval": {late, func(r *registry.Children, _ registry.Child, _ time.Time) (registry.Child, error) {
			return r.Approve(t.Context(), "plant", "ada")
		}, registry.BundleLife, false, 0},
		"by its key": {late, func(r *registry.Children, known registry.Child, end time.Time) (registry.Child, error) {
			return r.Add(t.Context(), registry.Child{Name: "Plant", Public: known.Public, Prefix: "elsewhere", Expires: end, By: "ada"})
		}, time.Hour, false, 0},
		"by its key before its end": {time.Hour, func(r *registry.Children, known registry.Child, end time.Time) (registry.Child, error) {
			return r.Add(t.Context(), registry.Child{Name: "plant", Public: known.Public, Expires: end, By: "ada"})
		}, time.Hour, false, 0},
		"by another key": {late, func(r *registry.Children, _ registry.Child, end time.Time) (registry.Child, error) {
			return r.Add(t.Context(), registry.Child{Name: "plant", Public: publicKey(t), Expires: end, By: "ada"})
		}, time.Hour, true, 0},
		"not by another key before its end": {time.Hour, func(r *registry.Children, _ registry.Child, end time.Time) (registry.Child, error) {
			return r.Add(t.Context(), registry.Child{Name: "plant", Public: publicKey(t), Expires: end})
		}, 0, false, fault.Conflict},
		"not without an end": {late, func(r *registry.Children, known registry.Child, _ time.Time) (registry.Child, error) {
			return r.Add(t.Context(), registry.Child{Name: "plant", Public: known.Public})
		}, 0, false, fault.Conflict},
		"not when it is shut out": {late, func(r *registry.Children, known registry.Child, end time.Time) (registry.Child, error) {
			if _, err := r.Revoke(t.Context(), "plant", "ada"); err != nil {
				return known, err
			}
			return r.Add(t.Context(), registry.Child{Name: "plant", Public: known.Public, Expires: end})
		}, 0, false, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHand()
			r := openChildren(t, t.TempDir(), h)
			made := bundled(t, r, h)
			h.at = h.at.Add(test.after)
			c, err := test.renew(r, made, h.at.Add(time.Hour))
			if test.kind != 0 {
				if !fault.Is(err, test.kind) {
					t.Errorf("it gives %+v, %v", c, err)
				}
				return
			}
			if err != nil || c.Name != "plant" || c.Prefix != "campus/plant" || c.By != "ada" || !c.Expires.Equal(h.at.Add(test.life)) || c.Expired(h.at) {
				t.Errorf("it is %+v, %v", c, err)
			}
			if had, known := r.ByKey(made.Public); !known || had.Name != "plant" || (c.Public != made.Public) != test.key {
				t.Errorf("the key before is that of %+v; now it is %s", had, c.Public)
			}
		})
	}
}

func TestTheEndOfABundleIsNearEnough(t *testing.T) {
	h := newHand()
	r := openChildren(t, t.TempDir(), h)
	for _, life := range []time.Duration{-time.Hour, 59 * time.Second, 11 * 365 * 24 * time.Hour} {
		if _, err := r.Add(t.Context(), registry.Child{Name: "plant", Public: publicKey(t), Expires: h.at.Add(life)}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v from now: %v", life, err)
		}
	}
}
