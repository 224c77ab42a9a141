package pki

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/identity/keyfile"
)

// Files of the authority below the folder of certificates. The copies replace the originals if those are lost or damaged.
const (
	AuthorityFile    = "ca.pem"
	AuthorityKey     = "ca.key"
	AuthorityCopy    = "ca-copy.pem"
	AuthorityKeyCopy = "ca-copy.key"
	serverFile       = "server.pem"
)

// Made reports whether the authority was newly created and continues no other: only those who are given its certificate trust it.
func (c *Certificates) Made() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made
}

func (c *Certificates) file(name string) string { return filepath.Join(c.dir, name) }

// renewAuthority reads the authority, or its copy, and replaces it when it nears its end. It creates one if none was ever used.
func (c *Certificates) renewAuthority(now time.Time) error {
	a, err := c.readAuthority()
	switch {
	case err == nil && a == nil:
		a, err = newAuthority(c.node, now)
		c.made = true
	case err == nil && !a.fresh(now):
		before := a
		if a, err = newAuthority(c.node, now); err == nil {
			err = c.endorse(a, before, now)
		}
	}
	if err == nil {
		err = c.keepAuthority(a)
	}
	if err != nil {
		return fmt.Errorf("prepare the certificate authority: %w", err)
	}
	c.authority = a
	c.endorsed = c.endorsement(a)
	return nil
}

// readAuthority returns the authority; nil if none was used in this folder.
func (c *Certificates) readAuthority() (*issued, error) {
	a, err := load(c.CAFile(), c.file(AuthorityKey))
	if !renewable(err) {
		return a, err
	}
	for _, try := range [][2]string{{AuthorityCopy, AuthorityKeyCopy}, {AuthorityCopy, AuthorityKey}, {AuthorityFile, AuthorityKeyCopy}} {
		twin, other := load(c.file(try[0]), c.file(try[1]))
		if !renewable(other) {
			return twin, other
		}
	}
	used := false
	for _, name := range []string{AuthorityCopy, AuthorityKeyCopy, serverFile} { // written after the authority
		_, is := os.Lstat(c.file(name))
		used = used || !errors.Is(is, fs.ErrNotExist)
	}
	if !used {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	return nil, fault.E("pki.readAuthority", fault.Corrupt, c.dir, fmt.Errorf("the node's authority cannot be read (%w), nor its copy, and "+
		"children and programs that trust it would not believe a new one: put ca.pem and ca.key back from a copy, or, for a new "+
		"authority, whose ca.pem they all must get, run: mv '%s' '%s.before'", err, c.dir, c.dir))
}

// keepAuthority writes the authority and its copies unless they exist.
func (c *Certificates) keepAuthority(a *issued) error {
	cert, key, err := a.encode()
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name    string
		content []byte
		mode    fs.FileMode
	}{ // the keys first: a crash leaves a mismatched pair, which load reports, and a matching copy
		{AuthorityKey, key, keyfile.Private},
		{AuthorityFile, cert, keyfile.Public},
		{AuthorityKeyCopy, key, keyfile.Private},
		{AuthorityCopy, cert, keyfile.Public},
	} {
		read := os.ReadFile
		if f.mode == keyfile.Private {
			read = keyfile.Read
		}
		there, err := read(c.file(f.name))
		if fault.Is(err, fault.Refused) {
			return err
		}
		if err == nil && bytes.Equal(there, f.content) {
			continue
		}
		if err := keyfile.Write(c.file(f.name), f.content, f.mode); err != nil {
			return err
		}
	}
	return nil
}
