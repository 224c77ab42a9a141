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

// Files of the keyring in a child's data directory.
const (
	KeyFile  = "parent.nk"      // the key that the parent knows
	nextFile = "parent.nk.next" // the key that it is about to learn
)

// Keyring holds the keys with which this node connects to its parent, as files in its data directory. It is safe for
// concurrent use.
type Keyring struct {
	dir string
	mu  sync.Mutex // held while files are read together, created or moved
}

// Read returns the keys to connect with, in the order to try: the one that the parent knows, preceded by one
// that it was about to learn when this node stopped, if any. The parent refuses unknown keys. Call Settled
// with the one that it accepted.
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
		case fault.Is(err, fault.Refused): // the message says what to do
			return nil, err
		default:
			return nil, fault.E("enrol.Keys", fault.KindOf(err), "", fmt.Errorf("%w; restore it from a copy, or get another one: voltbus leave, and then voltbus join with a new code", err))
		}
	}
	return keys, nil
}

// Settled records which key the parent accepted. A new key then replaces the old one. Several connections may
// settle on the same key, some late: by then the next file may hold another key, which the parent has never
// seen.
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

// pair returns the key that the parent knows and the next one, which is created if absent.
func (k *Keyring) pair() (old, next *identity.Key, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, err = identity.ReadKey(filepath.Join(k.dir, KeyFile)); err != nil {
		return nil, nil, err
	}
	next, err = identity.OpenKey(filepath.Join(k.dir, nextFile))
	return old, next, err
}

// Print returns the fingerprint of the key that the parent knows, "" if there is none.
func (k *Keyring) Print() string {
	key, err := identity.ReadKey(filepath.Join(k.dir, KeyFile))
	if err != nil {
		return ""
	}
	return identity.KeyPrint(key.Public())
}
