package filetransfer

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"time"

	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
)

// transfer is a file that a master has open.
type transfer struct {
	handle    uint32
	blockSize int
	next      uint32 // number of the block that comes next
	size      int64
	left      int64 // octets that may still be written
	content   io.ReaderAt
	closer    io.Closer // nil for a directory
	upload    Upload    // nil for reading
	last      bool      // the last block was written
	due       time.Time // until when something must be done with it
}

// end closes the file and keeps what was written if it is complete.
func (t *transfer) end(keep bool) error {
	switch {
	case t.upload != nil && keep && (t.last || t.next == 0):
		return t.upload.Commit()
	case t.upload != nil && keep:
		t.upload.Abort()
		return errIncomplete
	case t.upload != nil:
		t.upload.Abort()
	case t.closer != nil:
		return t.closer.Close()
	}
	return nil
}

var errIncomplete = errors.New("the file was closed before its last block")

// read returns a block. Any block can be read again.
func (t *transfer) read(number uint32, room []byte) (block file.Block, status file.Status) {
	at := int64(number) * int64(t.blockSize)
	if t.content == nil || at > t.size || at == t.size && number > 0 {
		return file.Block{}, file.BlockSequence
	}
	room = room[:min(int64(t.blockSize), t.size-at)]
	if n, err := t.content.ReadAt(room, at); err != nil && (n < len(room) || !errors.Is(err, io.EOF)) {
		return file.Block{}, file.Fatal // it became shorter, or the disk fails
	}
	return file.Block{Handle: t.handle, Number: number, Last: at+int64(len(room)) == t.size, Data: room}, file.Success
}

// write takes a block. The one before may come again if its answer was lost.
func (t *transfer) write(b file.Block) file.Status {
	switch {
	case t.upload == nil:
		return file.InvalidMode
	case b.Number+1 == t.next:
		return file.Success
	case b.Number != t.next || t.last:
		return file.BlockSequence
	case len(b.Data) > t.blockSize:
		return file.WriteBlockSize
	case int64(len(b.Data)) > t.left:
		return file.BufferOverrun
	}
	if _, err := t.upload.Write(b.Data); err != nil {
		return fileStatus(err)
	}
	t.left -= int64(len(b.Data))
	t.next++
	t.last = b.Last
	return file.Success
}

// fileStatus returns the status that says what an error of a file system says.
func fileStatus(err error) file.Status {
	switch {
	case err == nil:
		return file.Success
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		return file.NotFound
	case errors.Is(err, fs.ErrPermission):
		return file.PermissionDenied
	case errors.Is(err, fs.ErrExist):
		return file.Locked
	case errors.Is(err, errIncomplete):
		return file.BlockSequence
	default:
		return file.Fatal
	}
}

// openContent opens a file or directory for reading.
func openContent(files fs.FS, name string) (*transfer, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if info.IsDir() {
		content, err := listing(f)
		return &transfer{content: bytes.NewReader(content), size: int64(len(content))}, errors.Join(err, f.Close())
	}
	content, ok := f.(io.ReaderAt)
	if !ok || !info.Mode().IsRegular() {
		return nil, errors.Join(fs.ErrPermission, f.Close())
	}
	return &transfer{content: content, closer: f, size: min(info.Size(), maxFile)}, nil
}

const (
	maxFile    = 1<<32 - 1 // what a descriptor can say
	maxEntries = 4096      // of a directory
)

// listing returns the content of a directory as masters read it.
func listing(f fs.File) ([]byte, error) {
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, fs.ErrPermission
	}
	entries, err := d.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var content []byte
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			content = describe(info.Name(), info).Append(content)
		}
	}
	return content, nil
}

// describe returns the descriptor of a file.
func describe(name string, info fs.FileInfo) file.Descriptor {
	d := file.Descriptor{
		Name: name, Type: file.Simple, Size: uint32(min(info.Size(), maxFile)),
		Created: object.TimestampOf(info.ModTime()), Permissions: uint16(info.Mode().Perm()),
	}
	if info.IsDir() {
		d.Type, d.Size = file.Directory, 0
	}
	return d
}
