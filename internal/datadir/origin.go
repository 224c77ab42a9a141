package datadir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// originFile names what the blocks of a directory are called.
const originFile = "origin"

// The mark behind the name of a new origin: 36^6 are enough that no two directories with one name
// meet.
const (
	markLetters = "abcdefghijklmnopqrstuvwxyz0123456789"
	markLength  = 6
	maxOrigin   = 200
)

var errOrigin = errors.New("does not hold one line with the origin of the directory's blocks: " +
	"write into it what voltbus ledger showed for this node; a new origin would leave the old one without an end")

// NewOrigin returns an origin that no other directory has: the node's name and a mark.
func NewOrigin(name string) string {
	mark := make([]byte, 0, markLength)
	var b [1]byte
	for len(mark) < markLength {
		_, _ = rand.Read(b[:]) // never fails
		if int(b[0]) < 256/len(markLetters)*len(markLetters) {
			mark = append(mark, markLetters[int(b[0])%len(markLetters)])
		}
	}
	return name + "~" + string(mark)
}

// Origin returns the origin that was kept for a directory; "" if none was.
func Origin(dir string) (string, error) {
	file := filepath.Join(dir, originFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the directory's origin: %w", err)
	}
	origin := strings.TrimSpace(string(text))
	if origin == "" || len(origin) > maxOrigin || !utf8.ValidString(origin) || strings.ContainsFunc(origin, isControl) {
		return "", fmt.Errorf("%s %w", file, errOrigin)
	}
	return origin, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// KeepOrigin keeps the origin for the directory: when it returns it is on the disk.
func KeepOrigin(dir, origin string) (err error) {
	temporary, err := os.CreateTemp(dir, originFile+"-*")
	if err != nil {
		return fmt.Errorf("keep the directory's origin: %w", err)
	}
	_, err = fmt.Fprintln(temporary, origin)
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), filepath.Join(dir, originFile))
	}
	if err == nil {
		err = syncDirectory(dir)
	}
	if err != nil {
		_ = os.Remove(temporary.Name()) // it may be renamed already
		return fmt.Errorf("keep the directory's origin: %w", err)
	}
	return nil
}

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
