package deadline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestADeadlineIsAContextLikeThoseOfTheStandardLibrary(t *testing.T) {
	for name, c := range map[string]struct {
		then func(d *Context, cancelParent func())
		want error
	}{
		"before its time it lives":          {func(*Context, func()) { pass(time.Second - 1) }, nil},
		"at its time it is exceeded":        {func(*Context, func()) { pass(time.Second) }, context.DeadlineExceeded},
		"with its parent it is canceled":    {func(_ *Context, cancel func()) { cancel() }, context.Canceled},
		"after its end it is canceled":      {func(d *Context, _ func()) { d.End() }, context.Canceled},
		"the first reason stays the reason": {func(_ *Context, cancel func()) { cancel(); pass(2 * time.Second) }, context.Canceled},
	} {
		for use, waitFirst := range map[string]bool{"asked": false, "waited for": true} {
			t.Run(name+", "+use, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					parent, cancel := context.WithCancel(t.Context())
					defer cancel()
					d := New(parent, time.Second)
					defer d.End()
					var child context.Context
					if waitFirst {
						var stop func()
						child, stop = context.WithCancel(d)
						defer stop()
					}
					c.then(d, cancel)
					synctest.Wait()
					if err := d.Err(); !errors.Is(err, c.want) {
						t.Errorf("Err is %v, want %v", err, c.want)
					}
					select {
					case <-d.Done():
						if c.want == nil {
							t.Error("it is done")
						}
					default:
						if c.want != nil {
							t.Error("it is not done")
						}
					}
					if waitFirst && !errors.Is(child.Err(), c.want) {
						t.Errorf("a child's Err is %v, want %v", child.Err(), c.want)
					}
				})
			})
		}
	}
}

func TestADeadlineIsNoLaterThanThatOfItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := New(parent, time.Minute)
		defer d.End()
		if at, ok := d.Deadline(); !ok || time.Until(at) != time.Second {
			t.Errorf("deadline in %v", time.Until(at))
		}
		pass(time.Second)
		synctest.Wait()
		if !errors.Is(d.Err(), context.DeadlineExceeded) {
			t.Errorf("Err is %v", d.Err())
		}
	})
}

func pass(d time.Duration) { <-time.After(d) }
