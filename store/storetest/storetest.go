// Package storetest is the conformance suite of the stores: the promises of store.Store as tests that every implementation runs. The
// reference is store/memory.
package storetest

import (
	"testing"

	"voltbus/store"
)

// Place prepares an empty location for a store, such as a directory or a schema, that exists as long as t.
// The function it returns opens the store there; the suite closes that store and may then reopen it and
// expect to find everything. The store applies the retention and closes a day at most one hour after its end.
// Place must not reuse what an earlier call prepared.
type Place func(t testing.TB, r store.Retention) (open func() store.Store)

// Run runs the suite against the stores opened in place.
func Run(t *testing.T, place Place) {
	t.Helper()
	for _, group := range [][]test{appendTests(), readTests(), aggregateTests(), countTests(), dayTests(), historyTests()} {
		for _, tt := range group {
			t.Run(tt.name, func(t *testing.T) { tt.run(t, place) })
		}
	}
}

type test struct {
	name string // a sentence
	run  func(t *testing.T, place Place)
}
