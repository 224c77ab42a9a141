package memory_test

import (
	"testing"

	"voltbus/store"
	"voltbus/store/memory"
	"voltbus/store/storetest"
)

// view is one opening of a store that lasts as long as its test: Close ends the view only.
type view struct{ *memory.Store }

// Close leaves a closed store in place of the lasting one.
func (v *view) Close() error {
	v.Store = memory.New(memory.Options{})
	return v.Store.Close()
}

func TestMemoryKeepsThePromisesOfAStore(t *testing.T) {
	storetest.Run(t, func(_ testing.TB, r store.Retention) func() store.Store {
		lasting := memory.New(memory.Options{Retention: r})
		return func() store.Store { return &view{lasting} }
	})
}
