package dnp3_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/folder"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/outstation/filetransfer"
)

// serving returns a pair whose outstation serves files.
func serving(t *testing.T, service filetransfer.Service) *pair {
	t.Helper()
	c := plant(1)
	c.Files = service
	p := newPair(t, master.Config{ResponseTimeout: time.Second, Retries: 1}, c, outstation.SessionConfig{})
	p.open()
	return p
}

// writable returns a directory of the disk that masters may write.
func writable(t *testing.T) (string, *folder.Writable) {
	t.Helper()
	dir := t.TempDir()
	f, err := folder.OpenWritable(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return dir, f
}

// fetch reads a file.
func (p *pair) fetch(name string, key uint32) (string, error) {
	p.t.Helper()
	var content []byte
	_, err := p.ask(master.ReadFile(name, key, 1<<20, func(block []byte) error {
		content = append(content, block...)
		return nil
	}))
	return string(content), err
}

func TestFilesOfEverySizeAreReadAndWritten(t *testing.T) {
	dir, f := writable(t)
	p := serving(t, filetransfer.Service{Files: f})
	for _, size := range []int{0, 1, 1023, 1024, 1025, 2048, 20_000} {
		want := strings.Repeat("0123456789", size/10+1)[:size]
		if _, err := p.ask(master.WriteFile("/log.txt", 0, strings.NewReader(want), uint32(size))); err != nil {
			t.Fatalf("%d octets: %v", size, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "log.txt")); err != nil || string(got) != want {
			t.Errorf("%d octets written are %d octets on the disk, %v", size, len(got), err)
		}
		if got, err := p.fetch(`\log.txt`, 0); err != nil || got != want {
			t.Errorf("%d octets are read as %d octets, %v", size, len(got), err)
		}
	}
}

func TestFileTransfersSurviveALineThatLosesFrames(t *testing.T) {
	dir, f := writable(t)
	p := serving(t, filetransfer.Service{Files: f})
	n := 0
	p.spoil = func(octets []byte) [][]byte {
		if n++; n%3 == 0 {
			return nil
		}
		return [][]byte{octets}
	}
	want := strings.Repeat("abc", 3000)
	if _, err := p.ask(master.WriteFile("a", 0, strings.NewReader(want), uint32(len(want)))); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(got) != want {
		t.Errorf("%d octets arrived, %v", len(got), err)
	}
	if got, err := p.fetch("a", 0); err != nil || got != want {
		t.Errorf("%d octets are read, %v", len(got), err)
	}
}

func TestDirectoriesAndFilesAreDescribed(t *testing.T) {
	changed := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	p := serving(t, filetransfer.Service{Files: fstest.MapFS{
		"logs/a.txt": {Data: []byte("12345"), Mode: 0o640, ModTime: changed},
		"logs/b.txt": {Data: []byte("1"), ModTime: changed},
	}})
	var names []string
	_, err := p.ask(master.ReadDirectory("/logs", 0, 1<<20, func(d file.Descriptor) { names = append(names, d.Name) }))
	if diff := cmp.Diff([]string{"a.txt", "b.txt"}, names); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	var got file.Descriptor
	_, err = p.ask(master.FileInfo("/logs/a.txt", func(d file.Descriptor) { got = d }))
	want := file.Descriptor{
		Name: "/logs/a.txt", Type: file.Simple, Size: 5, Created: object.TimestampOf(changed), Permissions: 0o640,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestWhatCannotBeDoneWithFilesIsRefusedByItsStatus(t *testing.T) {
	dir, f := writable(t)
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	readOnly := fstest.MapFS{"a": {Data: []byte("1")}}
	drop := func([]byte) error { return nil }
	cases := []struct {
		name    string
		service filetransfer.Service
		request *master.Request
		status  file.Status
	}{
		{"a file that is not there", filetransfer.Service{Files: f}, master.ReadFile("none", 0, 10, drop), file.NotFound},
		{"a name that leads out", filetransfer.Service{Files: f}, master.ReadFile("../../etc/passwd", 0, 10, drop), file.NotFound},
		{"a link that leads out", filetransfer.Service{Files: f}, master.ReadDirectory("out", 0, 10, func(file.Descriptor) {}), file.Fatal},
		{"writing where one may only read", filetransfer.Service{Files: readOnly}, master.WriteFile("a", 0, strings.NewReader(""), 0), file.PermissionDenied},
		{"deleting where one may only read", filetransfer.Service{Files: readOnly}, master.DeleteFile("a", 0), file.PermissionDenied},
		{"deleting a directory", filetransfer.Service{Files: f}, master.DeleteFile("sub", 0), file.PermissionDenied},
		{"writing a directory", filetransfer.Service{Files: f}, master.WriteFile("sub", 0, strings.NewReader(""), 0), file.PermissionDenied},
		{"information about nothing", filetransfer.Service{Files: f}, master.FileInfo("none", func(file.Descriptor) {}), file.NotFound},
		{"a file above the bound", filetransfer.Service{Files: f, MaxSize: 5}, master.WriteFile("b", 0, strings.NewReader("123456"), 6), file.BufferOverrun},
		{
			"opening without a key",
			filetransfer.Service{Files: f, Authenticate: func(string, string) bool { return true }},
			master.ReadFile("a", 7, 10, drop), file.PermissionDenied,
		},
		{
			"a wrong password",
			filetransfer.Service{Files: f, Authenticate: func(_, password string) bool { return password == "x" }},
			master.AuthenticateFile("me", "y"), file.PermissionDenied,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := serving(t, c.service)
			_, err := p.ask(c.request)
			if !errors.Is(err, master.ErrFile) || !strings.Contains(err.Error(), c.status.String()) {
				t.Errorf("the error is %v, want %v", err, c.status)
			}
		})
	}
}

func TestAKeyIsGoodForOneOpening(t *testing.T) {
	p := serving(t, filetransfer.Service{
		Files:        fstest.MapFS{"a": {Data: []byte("content")}},
		Authenticate: func(user, password string) bool { return user == "me" && password == "secret" },
	})
	result, err := p.ask(master.AuthenticateFile("me", "secret"))
	if err != nil || result.Key == 0 {
		t.Fatalf("key %d, %v", result.Key, err)
	}
	if got, err := p.fetch("a", result.Key); err != nil || got != "content" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := p.fetch("a", result.Key); !errors.Is(err, master.ErrFile) {
		t.Errorf("the key opened a second time, %v", err)
	}
}

// failing is a source that ends early.
func failing() *bytes.Reader { return bytes.NewReader(make([]byte, 1500)) }

func TestAnAbortedOrAbandonedTransferLeavesNothing(t *testing.T) {
	dir, f := writable(t)
	p := serving(t, filetransfer.Service{Files: f, Timeout: 10 * time.Second})
	if _, err := p.ask(master.WriteFile("a", 0, failing(), 3000)); err == nil {
		t.Error("a source that ended early was written")
	}
	leaves := func(when string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 0 {
			t.Errorf("%s: %v, %v", when, entries, err)
		}
	}
	leaves("after an abort")
	p.spoil = func([]byte) [][]byte { return nil }
	sent := 0
	p.spoil = func(octets []byte) [][]byte { // the line dies after the first block
		if sent++; sent > 4 {
			return nil
		}
		return [][]byte{octets}
	}
	if _, err := p.ask(master.WriteFile("a", 0, bytes.NewReader(make([]byte, 3000)), 3000)); !errors.Is(err, master.ErrTimeout) {
		t.Errorf("writing over a dead line ended with %v", err)
	}
	p.run(20 * time.Second)
	leaves("after the time was over")
}

func TestTooManyFilesAndOneThatIsBeingWrittenAreRefused(t *testing.T) {
	_, f := writable(t)
	first, err := f.Create("a", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create("a", false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file was begun twice: %v", err)
	}
	if err := first.Commit(); err != nil {
		t.Error(err)
	}
	second, err := f.Create("a", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Write([]byte("tail")); err != nil {
		t.Error(err)
	}
	second.Abort()
	if got, err := fs.ReadFile(f, "a"); err != nil || len(got) != 0 {
		t.Errorf("after an abort the file holds %q, %v", got, err)
	}
}

func TestBroadcastsReachEveryOutstationInEachForm(t *testing.T) {
	for _, to := range []link.Address{link.BroadcastNoConfirm, link.BroadcastConfirm, link.BroadcastOptional} {
		t.Run(to.String(), func(t *testing.T) {
			operated, set := 0, time.Time{}
			c := plant(2)
			c.Callbacks.Operate = func(_ *outstation.Tx, c outstation.Command) object.Status {
				operated++
				return object.StatusSuccess
			}
			c.Callbacks.SetTime = func(at time.Time) bool { set = at; return true }
			p := newPair(t, master.Config{}, c, outstation.SessionConfig{})
			p.open()
			if _, err := p.ask(master.OperateUnanswered(master.Latch(1, true)).Broadcast(to)); err != nil || operated != 1 {
				t.Errorf("%d commands, %v", operated, err)
			}
			asked := p.now
			if _, err := p.ask(master.SyncTime(master.LAN).Broadcast(to)); err != nil {
				t.Error(err)
			}
			if off := set.Sub(asked); off < 0 || off > latency {
				t.Errorf("the clock was set to %v, %v off", set, off)
			}
			result, err := p.ask(master.ReadClasses(0x08))
			if err != nil || result.IIN&1 == 0 {
				t.Errorf("the next answer does not tell of the broadcast: %v, %v", result.IIN, err)
			}
			if result, err = p.ask(master.ReadClasses(0x08)); err != nil || result.IIN&1 != 0 {
				t.Errorf("the answer after that still does: %v, %v", result.IIN, err)
			}
		})
	}
	p := newPair(t, master.Config{}, plant(1), outstation.SessionConfig{})
	p.open()
	if _, err := p.ask(master.ReadClasses(1).Broadcast(link.BroadcastConfirm)); !errors.Is(err, master.ErrBroadcast) {
		t.Errorf("a read was broadcast: %v", err)
	}
}

func TestPatternsAndActivationsAreAskedForAndAnswered(t *testing.T) {
	var operated []uint32
	c := plant(20)
	c.Callbacks.Operate = func(_ *outstation.Tx, c outstation.Command) object.Status {
		operated = append(operated, c.Index)
		return object.StatusSuccess
	}
	c.Callbacks.Activate = func(name string) (time.Duration, uint8) { return time.Second, uint8(len(name)) }
	p := newPair(t, master.Config{}, c, outstation.SessionConfig{})
	p.open()
	block := object.CROB{Code: object.OpLatchOn, Count: 1}
	for _, ask := range []func(...master.Command) *master.Request{master.Operate, master.SelectOperate} {
		operated = nil
		if _, err := p.ask(ask(master.Pattern(block, 2, 3, 17), master.Latch(5, true))); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]uint32{2, 3, 17, 5}, operated); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := p.ask(master.Operate(master.Pattern(block, 3, 2))); err == nil {
		t.Error("a pattern of points out of order was sent")
	}
	result, err := p.ask(master.Activate("ab", "abc"))
	want := object.Activation{Delay: time.Second, Statuses: []byte{2, 3}}
	if diff := cmp.Diff(want, result.Activation); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
