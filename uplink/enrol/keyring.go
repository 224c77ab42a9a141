package enrol

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"voltbus/fault"
	"voltbus/identity"
)

// Files of the keyring in the data directory of a child.
const (
	KeyFile  = "parent.nk"      // the key that the parent knows
	nextFile = "parent.nk.next" // the key that it is about to know
)

// Keyring holds the keys with which this node connects to its parent, as files of its data directory. It is safe for
// concurrent use.
type Keyring struct {
	dir string
	mu  sync.Mutex // held while files are read together, made or moved
}

// Read returns the keys to connect with, in the order to try: the one that the parent knows, and
// before it one that it was about to know when this node was stopped, if there is such a key. The
// parent refuses keys that it does not know. Call Settled with the one that it took.
func (k *Keyring) Read() ([]*identity.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var keys []*identity.Key
	for _, name := range []string{nextFile, KeyFile} {
		key, err := identity.ReadKey(filepath.Join(k.dir, name))
		switch {
		case err == nil:
			keys = append(keys, key)
		case name == nextFile && (fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Invalid)):
		case fault.Is(err, fault.Refused): // the sentence says what to do
			return nil, err
		default:
			return nil, fault.E("enrol.Keys", fault.KindOf(err), "", fmt.Errorf("%w; restore it from a copy, or get another one: voltbus leave, and then voltbus join with a new code", err))
		}
	}
	return keys, nil
}

// Settled says which key the parent took. A new key takes the place of the old one then. Several connections may
// settle on the same key, some late: by then the next file can hold another key, which the parent never saw.
func (k *Keyring) Settled(key *identity.Key) error {
	next := filepath.Join(k.dir, nextFile)
	if key.File() != next {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if there, err := identity.ReadKey(next); fault.Is(err, fault.NotFound) || (err == nil && there.Public() != key.Public()) {
		return nil
	}
	if err := os.Rename(next, filepath.Join(k.dir, KeyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.E("enrol.Settled", fault.Unavailable, next, err)
	}
	return nil
}

// pair returns the key that the parent knows and the one to take next, which is made if there is none.
func (k *Keyring) pair() (old, next *identity.Key, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, err = identity.ReadKey(filepath.Join(k.dir, KeyFile)); err != nil {
		return nil, nil, err
	}
	next, err = identity.OpenKey(filepath.Join(k.dir, nextFile))
	return old, next, err
}

// Print returns what people compare of the key that the parent knows, "" if there is none.
func (k *Keyring) Print() string {
	key, err := identity.ReadKey(filepath.Join(k.dir, KeyFile))
	if err != nil {
		return ""
	}
	return identity.KeyPrint(key.Public())
}
