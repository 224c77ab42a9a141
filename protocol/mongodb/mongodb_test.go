package mongodb

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDocumentsAreThoseOfTheSpecification compares with the examples of bsonspec.org.
func TestDocumentsAreThoseOfTheSpecification(t *testing.T) {
	b, at := Begin(nil)
	b = End(String(b, "hello", "world"), at)
	if want := "\x16\x00\x00\x00\x02hello\x00\x06\x00\x00\x00world\x00\x00"; string(b) != want {
		t.Errorf("%q, not %q", b, want)
	}
	b, at = Begin(nil)
	b, list := Array(b, "BSON")
	b = Int32(Double(String(b, "0", "awesome"), "1", 5.05), "2", 1986)
	b = End(End(b, list), at)
	if want := "\x31\x00\x00\x00\x04BSON\x00\x26\x00\x00\x00\x020\x00\x08\x00\x00\x00awesome\x00\x011\x00\x33\x33\x33\x33\x33\x33\x14\x40\x102\x00\xc2\x07\x00\x00\x00\x00"; string(b) != want {
		t.Errorf("%q, not %q", b, want)
	}
}

func sample() []byte {
	b, at := Begin(nil)
	b = Bool(Date(Int64(Binary(b, "bytes", []byte{0, 1}), "long", math.MinInt64), "date", -1), "yes", true)
	b, within := Within(b, "in")
	b = End(String(b, "text", "ä"), within)
	b = append(append(b, typeNull), "none\x00"...)
	return End(b, at)
}

func TestDecodeReadsWhatWasWritten(t *testing.T) {
	got, err := Decode(sample())
	want := Document{"bytes": []byte{0, 1}, "long": int64(math.MinInt64), "date": int64(-1), "yes": true, "in": Document{"text": "ä"}, "none": nil}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestDecodeRefusesWhatIsBroken(t *testing.T) {
	whole := sample()
	for n := range whole {
		if _, err := Decode(whole[:n]); err == nil {
			t.Errorf("the first %d bytes of %d are accepted", n, len(whole))
		}
	}
	deep := []byte{5, 0, 0, 0, 0}
	for range deepest + 1 {
		b, at := Begin(nil)
		b = append(append(b, typeDocument), "x\x00"...)
		deep = End(append(b, deep...), at)
	}
	if _, err := Decode(deep); err == nil {
		t.Error("any depth is accepted")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = Decode(data) })
}

// TestSCRAMIsThatOfTheStandard has the example of RFC 7677, clause 3.
func TestSCRAMIsThatOfTheStandard(t *testing.T) {
	s := &scram{user: "user", password: "pencil", nonce: "rOprNGfwEbeRWgbNEkqO"}
	if got := s.first(); got != "n,,n=user,r=rOprNGfwEbeRWgbNEkqO" {
		t.Error(got)
	}
	const challenge = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
	got, err := s.final(challenge)
	if want := "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="; err != nil || got != want {
		t.Error(got, err)
	}
	if err := s.check("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="); err != nil {
		t.Error(err)
	}
	if s.check("v="+base64.StdEncoding.EncodeToString(make([]byte, 32))) == nil || s.check("e=other-error") == nil {
		t.Error("a server that does not know the password is accepted")
	}
	for _, wrong := range []string{
		strings.Replace(challenge, "i=4096", "i=1", 1), strings.Replace(challenge, "i=4096", "i=99999999", 1), strings.Replace(challenge, "r=rO", "r=xx", 1), "r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "",
	} {
		if _, err := s.final(wrong); err == nil {
			t.Errorf("the challenge %q is accepted", wrong)
		}
	}
}

// answer is what a server writes after it has read a command.
func answer(t *testing.T, to func(id uint32) []byte) (Document, error) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		defer far.Close()
		var head [headerSize]byte
		if _, err := io.ReadFull(far, head[:]); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, far, int64(binary.LittleEndian.Uint32(head[:]))-headerSize); err == nil {
			_, _ = far.Write(to(binary.LittleEndian.Uint32(head[4:])))
		}
	}()
	return New(near).Hello(t.Context(), "test")
}

func message(id, flags uint32, document []byte) []byte {
	b := make([]byte, headerSize)
	b = append(binary.LittleEndian.AppendUint32(b, flags), 0)
	b = append(b, document...)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	binary.LittleEndian.PutUint32(b[8:], id)
	binary.LittleEndian.PutUint32(b[12:], opMessage)
	return b
}

func TestAnswers(t *testing.T) {
	b, at := Begin(nil)
	good := End(Double(b, "ok", 1), at)
	b, at = Begin(nil)
	bad := End(String(Int32(Double(b, "ok", 0), "code", 13), "errmsg", "no"), at)
	if d, err := answer(t, func(id uint32) []byte { return message(id, 0, good) }); err != nil || d["ok"] != 1.0 {
		t.Error(d, err)
	}
	if d, err := answer(t, func(id uint32) []byte { return message(id, 1, append(bytes.Clone(good), 1, 2, 3, 4)) }); err != nil || d["ok"] != 1.0 {
		t.Error("with a checksum:", d, err)
	}
	_, err := answer(t, func(id uint32) []byte { return message(id, 0, bad) })
	if e, is := errors.AsType[*Error](err); !is || e.Code != 13 || e.Text != "no" {
		t.Error(err)
	}
	for name, to := range map[string]func(uint32) []byte{
		"another id": func(id uint32) []byte { return message(id+1, 0, good) },
		"cut":        func(id uint32) []byte { return message(id, 0, good)[:30] },
		"HTTP":       func(uint32) []byte { return []byte("HTTP/1.1 400 Bad Request\r\n\r\n") },
		"empty":      func(id uint32) []byte { return message(id, 0, nil) },
		"more":       func(id uint32) []byte { return message(id, 2, good) },
	} {
		if d, err := answer(t, to); err == nil {
			t.Errorf("%s is accepted: %v", name, d)
		}
	}
}

func TestACommandEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		go func() { _, _ = io.Copy(io.Discard, far) }() // a server that never answers
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := New(near).Hello(ctx, "test"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
