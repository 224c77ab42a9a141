package datadir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"voltbus/internal/atomicfile"
)

// The origin of a directory's blocks is stored in a file, and in a copy that replaces it if it is damaged.
const (
	OriginFile = "origin"
	OriginCopy = "origin.copy"
)

// The suffix of a new origin's name: 36^6 values are enough that two directories of the same name do not
// collide.
const (
	markLetters = "abcdefghijklmnopqrstuvwxyz0123456789"
	markLength  = 6
	maxOrigin   = 200
)

var errOrigin = errors.New("does not hold one line with the origin of the directory's blocks")

// damagedOrigin explains what to do with a file that is not a valid origin.
func damagedOrigin(file string) error {
	return fmt.Errorf("%s %w: write into it what voltbus ledger showed for this node, also at its parent, such as by "+
		"rm -r '%s'; echo 'NAME~MARK' > '%s'; a new origin would leave the old one without an end", file, errOrigin, file, file)
}

var errHalf = errors.New("it does not end with the end of a line")

// CheckOrigin returns what is wrong with the content of the file; an unterminated last line may be incomplete.
func CheckOrigin(content []byte) error {
	if !strings.HasSuffix(string(content), "\n") {
		return errHalf
	}
	if !isOrigin(strings.TrimSpace(string(content))) {
		return errOrigin
	}
	return nil
}

func isOrigin(s string) bool {
	return s != "" && len(s) <= maxOrigin && utf8.ValidString(s) && !strings.ContainsFunc(s, isControl)
}

// NewOrigin returns a unique origin: the node's name and a random suffix.
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

// Origin returns the stored origin of a directory; "" if there is none.
func Origin(dir string) (string, error) {
	file := filepath.Join(dir, OriginFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if errors.Is(err, syscall.EISDIR) {
		return "", damagedOrigin(file)
	}
	if err != nil {
		return "", fmt.Errorf("read the directory's origin: %w", err)
	}
	origin := strings.TrimSpace(string(text))
	if !isOrigin(origin) {
		return "", damagedOrigin(file)
	}
	return origin, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// KeepOrigin stores the origin of the directory: when it returns it is on disk, twice.
func KeepOrigin(dir, origin string) error {
	for _, name := range []string{OriginFile, OriginCopy} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && string(text) == origin+"\n" {
			continue
		}
		if err := (atomicfile.Writer{}).Write(filepath.Join(dir, name), []byte(origin+"\n"), 0o600); err != nil {
			return fmt.Errorf("keep the directory's origin: %w", err)
		}
	}
	return nil
}

// Put writes a small file that only the owner of the directory reads: all of it, or nothing.
func Put(file string, content []byte) error {
	return (atomicfile.Writer{}).Write(file, content, 0o600)
}
