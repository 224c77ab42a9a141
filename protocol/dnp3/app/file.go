package app

import (
	"encoding/binary"
	"fmt"
)

// FileStatus is the outcome of a file operation (Annex A, g70v4).
type FileStatus uint8

// File statuses.
const (
	FileSuccess          FileStatus = 0
	FilePermissionDenied FileStatus = 1
	FileInvalidMode      FileStatus = 2
	FileNotFound         FileStatus = 3
	FileLocked           FileStatus = 4
	FileTooManyOpen      FileStatus = 5
	FileInvalidHandle    FileStatus = 6
	FileWriteBlockSize   FileStatus = 7
	FileCommLost         FileStatus = 8
	FileCannotAbort      FileStatus = 9
	FileNotOpened        FileStatus = 16
	FileHandleExpired    FileStatus = 17
	FileBufferOverrun    FileStatus = 18
	FileFatal            FileStatus = 19
	FileBlockSequence    FileStatus = 20
	FileUndefined        FileStatus = 255
)

// FileMode says what a file is opened for.
type FileMode uint16

// File modes.
const (
	FileModeNone   FileMode = 0
	FileModeRead   FileMode = 1
	FileModeWrite  FileMode = 2
	FileModeAppend FileMode = 3
)

// FileType tells files from directories.
type FileType uint16

// File types.
const (
	FileTypeDirectory FileType = 0
	FileTypeSimple    FileType = 1
)

// FileAuth asks for, or returns, the key with which files are opened (g70v2).
type FileAuth struct {
	User, Password string
	Key            uint32
}

// FileCommand opens or deletes a file (g70v3).
type FileCommand struct {
	Name        string
	Created     Timestamp
	Permissions uint16
	Key         uint32
	// Size is the file's size in octets when writing.
	Size      uint32
	Mode      FileMode
	BlockSize uint16
	Request   uint16
}

// FileCommandStatus answers opening, closing and deleting (g70v4).
type FileCommandStatus struct {
	Handle    uint32
	Size      uint32
	BlockSize uint16
	Request   uint16
	Status    FileStatus
	Text      string
}

// FileBlock carries or asks for a block of a file (g70v5).
type FileBlock struct {
	Handle uint32
	// Number counts from 0, at most 2^31-1.
	Number uint32
	Last   bool
	Data   []byte
}

// FileBlockStatus answers a block that was written (g70v6).
type FileBlockStatus struct {
	Handle uint32
	Number uint32
	Last   bool
	Status FileStatus
	Text   string
}

// FileDescriptor describes a file or directory (g70v7). A directory's content is
// read as a file made of these.
type FileDescriptor struct {
	Name string
	Type FileType
	// Size is in octets for a file, in entries for a directory.
	Size        uint32
	Created     Timestamp
	Permissions uint16
	Request     uint16
}

// lastBlock is the bit of a block number that marks the last block.
const lastBlock = 1 << 31

// Sizes of the fixed part of the file objects in octets.
const (
	fileAuthSize          = 12
	fileCommandSize       = 26
	fileCommandStatusSize = 13
	fileBlockSize         = 8
	fileBlockStatusSize   = 9
	fileDescriptorSize    = 20
)

// FileAuth decodes an object of g70v2.
func (o Object) FileAuth() (FileAuth, error) {
	if err := o.fixed(G70V2, fileAuthSize); err != nil {
		return FileAuth{}, err
	}
	user, err := o.text(0)
	if err != nil {
		return FileAuth{}, err
	}
	password, err := o.text(4)
	return FileAuth{User: user, Password: password, Key: o.u32(8)}, err
}

// FileCommand decodes an object of g70v3.
func (o Object) FileCommand() (FileCommand, error) {
	if err := o.fixed(G70V3, fileCommandSize); err != nil {
		return FileCommand{}, err
	}
	name, err := o.text(0)
	return FileCommand{
		Name: name, Created: absolute(o.Data[4:]), Permissions: o.u16(10), Key: o.u32(12), Size: o.u32(16),
		Mode: FileMode(o.u16(20)), BlockSize: o.u16(22), Request: o.u16(24),
	}, err
}

// FileCommandStatus decodes an object of g70v4.
func (o Object) FileCommandStatus() (FileCommandStatus, error) {
	if err := o.fixed(G70V4, fileCommandStatusSize); err != nil {
		return FileCommandStatus{}, err
	}
	return FileCommandStatus{
		Handle: o.u32(0), Size: o.u32(4), BlockSize: o.u16(8), Request: o.u16(10),
		Status: FileStatus(o.Data[12]), Text: string(o.Data[fileCommandStatusSize:]),
	}, nil
}

// FileBlock decodes an object of g70v5; Data shares the fragment's memory.
func (o Object) FileBlock() (FileBlock, error) {
	if err := o.fixed(G70V5, fileBlockSize); err != nil {
		return FileBlock{}, err
	}
	block := o.u32(4)
	return FileBlock{
		Handle: o.u32(0), Number: block &^ lastBlock, Last: block&lastBlock != 0, Data: o.Data[fileBlockSize:],
	}, nil
}

// FileBlockStatus decodes an object of g70v6.
func (o Object) FileBlockStatus() (FileBlockStatus, error) {
	if err := o.fixed(G70V6, fileBlockStatusSize); err != nil {
		return FileBlockStatus{}, err
	}
	block := o.u32(4)
	return FileBlockStatus{
		Handle: o.u32(0), Number: block &^ lastBlock, Last: block&lastBlock != 0,
		Status: FileStatus(o.Data[8]), Text: string(o.Data[fileBlockStatusSize:]),
	}, nil
}

// FileDescriptor decodes an object of g70v7.
func (o Object) FileDescriptor() (FileDescriptor, error) {
	if err := o.fixed(G70V7, fileDescriptorSize); err != nil {
		return FileDescriptor{}, err
	}
	name, err := o.text(0)
	return FileDescriptor{
		Name: name, Type: FileType(o.u16(4)), Size: o.u32(6), Created: absolute(o.Data[10:]),
		Permissions: o.u16(16), Request: o.u16(18),
	}, err
}

// FileName decodes an object of g70v8, which names a file to delete, describe or
// activate; it is empty for any other object.
func (o Object) FileName() string {
	if o.Variation != G70V8 {
		return ""
	}
	return string(o.Data)
}

// NextDescriptor decodes the descriptor at the start of a directory's content and
// returns what follows it, which is always shorter than content.
func NextDescriptor(content []byte) (d FileDescriptor, rest []byte, err error) {
	o := Object{Variation: G70V7, Data: content}
	if d, err = o.FileDescriptor(); err != nil {
		return d, nil, err
	}
	size := fileDescriptorSize
	if len(d.Name) > 0 {
		size = max(size, int(o.u16(0))+len(d.Name))
	}
	return d, content[size:], nil
}

// fixed checks the variation and that the fixed part is there.
func (o Object) fixed(want Variation, size int) error {
	if o.Variation != want {
		return fmt.Errorf("decode %v: the object is %v", want, o.Variation)
	}
	if len(o.Data) < size {
		return fmt.Errorf("decode %v: %d octets, at least %d needed", want, len(o.Data), size)
	}
	return nil
}

// text returns the string whose offset and size stand at octet at.
func (o Object) text(at int) (string, error) {
	start, size := int(o.u16(at)), int(o.u16(at+2))
	if size == 0 {
		return "", nil
	}
	if start+size > len(o.Data) {
		return "", fmt.Errorf("decode %v: string of %d octets at octet %d of %d", o.Variation, size, start, len(o.Data))
	}
	return string(o.Data[start : start+size]), nil
}

func (o Object) u16(at int) uint16 { return binary.LittleEndian.Uint16(o.Data[at:]) }

func (o Object) u32(at int) uint32 { return binary.LittleEndian.Uint32(o.Data[at:]) }
