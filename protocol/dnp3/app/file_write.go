package app

import (
	"encoding/binary"
	"fmt"
)

// FileObject is one of the file objects of this package: [FileAuth], [FileCommand],
// [FileCommandStatus], [FileBlock], [FileBlockStatus], [FileDescriptor] or [FileName].
type FileObject interface {
	variation() Variation
	size() int
	append(dst []byte) []byte
}

// FileName names a file to delete, describe or activate (g70v8).
type FileName string

// File appends a file object in free format. It returns [ErrFull] when the object
// does not fit, [ErrValue] when a name or text is longer than 65535 octets.
func (w *Writer) File(object FileObject) error {
	size := object.size()
	if size > 0xFFFF {
		return fmt.Errorf("write %v of %d octets: %w", object.variation(), size, ErrValue)
	}
	if !w.room(headerBase + 1 + 2 + size) {
		return ErrFull
	}
	w.closeRun()
	w.putHeader(object.variation(), FreeFormat)
	w.buf = binary.LittleEndian.AppendUint16(append(w.buf, 1), uint16(size))
	w.buf = object.append(w.buf)
	return nil
}

func (FileAuth) variation() Variation          { return G70V2 }
func (FileCommand) variation() Variation       { return G70V3 }
func (FileCommandStatus) variation() Variation { return G70V4 }
func (FileBlock) variation() Variation         { return G70V5 }
func (FileBlockStatus) variation() Variation   { return G70V6 }
func (FileDescriptor) variation() Variation    { return G70V7 }
func (FileName) variation() Variation          { return G70V8 }

func (f FileAuth) size() int          { return fileAuthSize + len(f.User) + len(f.Password) }
func (f FileCommand) size() int       { return fileCommandSize + len(f.Name) }
func (f FileCommandStatus) size() int { return fileCommandStatusSize + len(f.Text) }
func (f FileBlock) size() int         { return fileBlockSize + len(f.Data) }
func (f FileBlockStatus) size() int   { return fileBlockStatusSize + len(f.Text) }
func (f FileDescriptor) size() int    { return fileDescriptorSize + len(f.Name) }
func (f FileName) size() int          { return len(f) }

func (f FileAuth) append(dst []byte) []byte {
	dst = appendSpan(dst, fileAuthSize, len(f.User))
	dst = appendSpan(dst, fileAuthSize+len(f.User), len(f.Password))
	dst = binary.LittleEndian.AppendUint32(dst, f.Key)
	return append(append(dst, f.User...), f.Password...)
}

func (f FileCommand) append(dst []byte) []byte {
	dst = appendSpan(dst, fileCommandSize, len(f.Name))
	dst = appendTime(dst, f.Created)
	dst = binary.LittleEndian.AppendUint16(dst, f.Permissions)
	dst = binary.LittleEndian.AppendUint32(dst, f.Key)
	dst = binary.LittleEndian.AppendUint32(dst, f.Size)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(f.Mode))
	dst = binary.LittleEndian.AppendUint16(dst, f.BlockSize)
	dst = binary.LittleEndian.AppendUint16(dst, f.Request)
	return append(dst, f.Name...)
}

func (f FileCommandStatus) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, f.Handle)
	dst = binary.LittleEndian.AppendUint32(dst, f.Size)
	dst = binary.LittleEndian.AppendUint16(dst, f.BlockSize)
	dst = binary.LittleEndian.AppendUint16(dst, f.Request)
	return append(append(dst, byte(f.Status)), f.Text...)
}

func (f FileBlock) append(dst []byte) []byte {
	return append(appendBlock(dst, f.Handle, f.Number, f.Last), f.Data...)
}

func (f FileBlockStatus) append(dst []byte) []byte {
	dst = appendBlock(dst, f.Handle, f.Number, f.Last)
	return append(append(dst, byte(f.Status)), f.Text...)
}

func (f FileDescriptor) append(dst []byte) []byte {
	dst = appendSpan(dst, fileDescriptorSize, len(f.Name))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(f.Type))
	dst = binary.LittleEndian.AppendUint32(dst, f.Size)
	dst = appendTime(dst, f.Created)
	dst = binary.LittleEndian.AppendUint16(dst, f.Permissions)
	dst = binary.LittleEndian.AppendUint16(dst, f.Request)
	return append(dst, f.Name...)
}

func (f FileName) append(dst []byte) []byte { return append(dst, f...) }

// appendSpan appends offset and size of a string.
func appendSpan(dst []byte, at, size int) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(at))
	return binary.LittleEndian.AppendUint16(dst, uint16(size))
}

func appendBlock(dst []byte, handle, number uint32, last bool) []byte {
	number &^= lastBlock
	if last {
		number |= lastBlock
	}
	dst = binary.LittleEndian.AppendUint32(dst, handle)
	return binary.LittleEndian.AppendUint32(dst, number)
}
