//go:build linux

package channel_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/folder"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/outstation/filetransfer"
	"voltbus/protocol/dnp3/station"
	"voltbus/testing/peers"
)

// counting returns octets that count up, as the peer makes them.
func counting(size int) []byte {
	octets := make([]byte, size)
	for i := range octets {
		octets[i] = byte(i % 251)
	}
	return octets
}

func TestOurMasterReadsFilesOfAForeignOutstation(t *testing.T) {
	s := newSite(t, 0)
	peer, number := peers.StartDNP3(t), peers.FreePort(t)
	peer.Do(t, "outstation %s", number)
	peer.Await(t, "serving")
	a, err := master.New(master.Config{ResponseTimeout: time.Second, Retries: 3}, &readings{arrived: make(chan reading, 1000)})
	if err != nil {
		t.Fatal(err)
	}
	<-s.dial(channel.DialTCP(net.JoinHostPort("127.0.0.1", number), nil),
		s.port(station.Config{Local: 1, Remote: 10, Master: true}, a))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	var content []byte
	_, err = a.Do(ctx, master.ReadFile("log.bin", 0, 1<<20, func(block []byte) error {
		content = append(content, block...)
		return nil
	}))
	if err != nil || string(content) != string(counting(3000)) {
		t.Errorf("%d octets are read, %v", len(content), err)
	}
	var info file.Descriptor
	if _, err := a.Do(ctx, master.FileInfo("log.bin", func(d file.Descriptor) { info = d })); err != nil || info.Size != 3000 {
		t.Errorf("%+v, %v", info, err)
	}
	_, err = a.Do(ctx, master.ReadFile("none", 0, 10, func([]byte) error { return nil }))
	if !errors.Is(err, master.ErrFile) || !strings.Contains(err.Error(), file.NotFound.String()) {
		t.Errorf("reading a file that is not there gives %v", err)
	}
	if _, err := a.Do(ctx, master.DeleteFile("log.bin", 0)); err != nil {
		t.Error(err)
	}
	if _, err := a.Do(ctx, master.FileInfo("log.bin", func(file.Descriptor) {})); err == nil {
		t.Error("a deleted file was described")
	}
}

func TestAForeignMasterReadsAndWritesFilesOfOurOutstation(t *testing.T) {
	s := newSite(t, 0)
	dir := t.TempDir()
	files, err := folder.OpenWritable(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	o, err := outstation.New(outstation.Config{Files: filetransfer.Service{Files: files}})
	if err != nil {
		t.Fatal(err)
	}
	session, err := o.Session(outstation.SessionConfig{Master: 1})
	if err != nil {
		t.Fatal(err)
	}
	address := s.listen(s.port(station.Config{Local: 10, Remote: 1}, session))
	if err := os.WriteFile(filepath.Join(dir, "log.bin"), counting(3000), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	peer := peers.StartDNP3(t)
	peer.Do(t, "master %s", port)
	peer.Await(t, "open") // before that it knows no way to the files
	sum := crc32.ChecksumIEEE
	for _, c := range []struct{ command, want string }{
		{"readfile log.bin", fmt.Sprintf("file SUCCESS SUCCESS 3000 %d", sum(counting(3000)))},
		{"readfile none", "file SUCCESS FILE_NOT_FOUND 0 0"},
		{"fileinfo log.bin", fmt.Sprintf("file SUCCESS SUCCESS 3000 %d", sum(make([]byte, 3000)))},
		{"writefile new.bin 2500", "file SUCCESS SUCCESS 0 0"},
		{"readdir /", "directory SUCCESS log.bin new.bin"},
		{"deletefile log.bin", "file SUCCESS SUCCESS 0 0"},
	} {
		kind, _, _ := strings.Cut(c.want, " ")
		peer.Do(t, "%s", c.command)
		if got := kind + " " + peer.Await(t, kind); got != c.want {
			t.Errorf("%s gives %q, want %q", c.command, got, c.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "new.bin")); err != nil || string(got) != string(counting(2500)) {
		t.Errorf("%d octets were written, %v", len(got), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "log.bin")); err == nil {
		t.Error("the deleted file is still there")
	}
}
