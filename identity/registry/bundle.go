package registry

import (
	"context"
	"errors"
	"slices"
	"time"

	"voltbus/fault"
)

// BundleLife is how long the key of an unused bundle is accepted by default.
const BundleLife = 30 * 24 * time.Hour

// mostBundleLife bounds it.
const mostBundleLife = 10 * 365 * 24 * time.Hour

var errBundleLife = errors.New("must be between a minute and ten years from now; one that is to be taken for ever has none (--expires never)")

// checkEnd checks the expiry of a key; the zero time means never.
func checkEnd(end, now time.Time) error {
	if life := end.Sub(now); !end.IsZero() && (life < leastLife || life > mostBundleLife) {
		return fault.E("registry.checkEnd", fault.Invalid, "expires", errBundleLife)
	}
	return nil
}

// renewable reports whether a known child that never connected may get the expiry and the key of a new
// request. Another key only replaces one that has expired.
func (r *Children) renewable(known, wish *Child) bool {
	if known.State != ChildApproved || known.Expires.IsZero() || wish.Expires.IsZero() {
		return false
	}
	if known.Public == wish.Public {
		return true
	}
	_, taken := r.ByKey(wish.Public)
	return known.Expired(r.now()) && !taken
}

// renewed is a child with the expiry and the key of a request.
func renewed(c Child, wish *Child, now time.Time) Child {
	if c.Expired(now) {
		c.Changed = now
	}
	if c.Public != wish.Public {
		c.replaceKey(wish.Public)
	}
	c.Expires, c.By = wish.Expires, wish.By
	return c
}

// replaceKey gives the child another key, and remembers the previous one.
func (c *Child) replaceKey(public string) {
	c.Previous = append(slices.Clone(c.Previous), c.Public)
	c.Previous = c.Previous[max(0, len(c.Previous)-maxPrevious):]
	c.Public = public
}

// Met records that a child has connected: its key no longer expires. fault.NotFound if it does not exist.
func (r *Children) Met(ctx context.Context, name string) error {
	c, err := r.Child(name)
	if err != nil || c.Expires.IsZero() {
		return err
	}
	_, err = r.alter(ctx, name, func(c *Child) error {
		c.Expires = time.Time{}
		return nil
	})
	return err
}
