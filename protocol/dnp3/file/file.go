package file

import (
	"fmt"

	"voltbus/protocol/dnp3/object"
)

// Status is the outcome of a file operation (Annex A, g70v4).
type Status uint8

// File statuses.
const (
	Success          Status = 0
	PermissionDenied Status = 1
	InvalidMode      Status = 2
	NotFound         Status = 3
	Locked           Status = 4
	TooManyOpen      Status = 5
	InvalidHandle    Status = 6
	WriteBlockSize   Status = 7
	CommLost         Status = 8
	CannotAbort      Status = 9
	NotOpened        Status = 16
	HandleExpired    Status = 17
	BufferOverrun    Status = 18
	Fatal            Status = 19
	BlockSequence    Status = 20
	Undefined        Status = 255
)

var statusNames = map[Status]string{
	Success: "success", PermissionDenied: "permission denied", InvalidMode: "invalid mode", NotFound: "not found",
	Locked: "locked by another user", TooManyOpen: "too many open files", InvalidHandle: "invalid handle",
	WriteBlockSize: "wrong block size", CommLost: "communication lost", CannotAbort: "cannot be aborted",
	NotOpened: "not opened", HandleExpired: "handle expired", BufferOverrun: "buffer overrun", Fatal: "fatal",
	BlockSequence: "wrong block number", Undefined: "undefined",
}

// String returns the status in words, or its number.
func (s Status) String() string {
	if name, ok := statusNames[s]; ok {
		return name
	}
	return fmt.Sprintf("file status %d", uint8(s))
}

// Mode says what a file is opened for.
type Mode uint16

// File modes.
const (
	ModeNone   Mode = 0
	ModeRead   Mode = 1
	ModeWrite  Mode = 2
	ModeAppend Mode = 3
)

// Type distinguishes files from directories.
type Type uint16

// File types.
const (
	Directory Type = 0
	Simple    Type = 1
)

// Auth asks for, or returns, the key with which files are opened (g70v2).
type Auth struct {
	User, Password string
	Key            uint32
}

// Command opens or deletes a file (g70v3).
type Command struct {
	Name        string
	Created     object.Timestamp
	Permissions uint16
	Key         uint32
	// Size is the file's size in octets when writing.
	Size      uint32
	Mode      Mode
	BlockSize uint16
	Request   uint16
}

// CommandStatus answers opening, closing and deleting (g70v4).
type CommandStatus struct {
	Handle    uint32
	Size      uint32
	BlockSize uint16
	Request   uint16
	Status    Status
	Text      string
}

// Block carries or asks for a block of a file (g70v5).
type Block struct {
	Handle uint32
	// Number counts from 0, at most 2^31-1.
	Number uint32
	Last   bool
	Data   []byte
}

// BlockStatus answers a block that was written (g70v6).
type BlockStatus struct {
	Handle uint32
	Number uint32
	Last   bool
	Status Status
	Text   string
}

// Descriptor describes a file or directory (g70v7). A directory's content is
// read as a file made of these.
type Descriptor struct {
	Name string
	Type Type
	// Size is in octets for a file, in entries for a directory.
	Size        uint32
	Created     object.Timestamp
	Permissions uint16
	Request     uint16
}

// Name names a file to delete, describe or activate (g70v8).
type Name string
