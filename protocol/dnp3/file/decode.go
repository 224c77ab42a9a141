package file

import (
	"encoding/binary"
	"fmt"

	"voltbus/protocol/dnp3/object"
)

// lastBlock is the bit of a block number that marks the last block.
const lastBlock = 1 << 31

// Sizes of the fixed part of the file objects in octets.
const (
	authSize          = 12
	commandSize       = 26
	commandStatusSize = 13
	blockSize         = 8
	blockStatusSize   = 9
	descriptorSize    = 20
)

// ParseAuth decodes an object of g70v2.
func ParseAuth(o object.Raw) (Auth, error) {
	if err := fixed(o, object.G70V2, authSize); err != nil {
		return Auth{}, err
	}
	user, err := text(o, 0)
	if err != nil {
		return Auth{}, err
	}
	password, err := text(o, 4)
	return Auth{User: user, Password: password, Key: u32(o, 8)}, err
}

// ParseCommand decodes an object of g70v3.
func ParseCommand(o object.Raw) (Command, error) {
	if err := fixed(o, object.G70V3, commandSize); err != nil {
		return Command{}, err
	}
	name, err := text(o, 0)
	return Command{
		Name: name, Created: object.ReadTime(o.Data[4:]), Permissions: u16(o, 10), Key: u32(o, 12), Size: u32(o, 16),
		Mode: Mode(u16(o, 20)), BlockSize: u16(o, 22), Request: u16(o, 24),
	}, err
}

// ParseCommandStatus decodes an object of g70v4.
func ParseCommandStatus(o object.Raw) (CommandStatus, error) {
	if err := fixed(o, object.G70V4, commandStatusSize); err != nil {
		return CommandStatus{}, err
	}
	return CommandStatus{
		Handle: u32(o, 0), Size: u32(o, 4), BlockSize: u16(o, 8), Request: u16(o, 10),
		Status: Status(o.Data[12]), Text: string(o.Data[commandStatusSize:]),
	}, nil
}

// ParseBlock decodes an object of g70v5; Data shares the fragment's memory.
func ParseBlock(o object.Raw) (Block, error) {
	if err := fixed(o, object.G70V5, blockSize); err != nil {
		return Block{}, err
	}
	block := u32(o, 4)
	return Block{
		Handle: u32(o, 0), Number: block &^ lastBlock, Last: block&lastBlock != 0, Data: o.Data[blockSize:],
	}, nil
}

// ParseBlockStatus decodes an object of g70v6.
func ParseBlockStatus(o object.Raw) (BlockStatus, error) {
	if err := fixed(o, object.G70V6, blockStatusSize); err != nil {
		return BlockStatus{}, err
	}
	block := u32(o, 4)
	return BlockStatus{
		Handle: u32(o, 0), Number: block &^ lastBlock, Last: block&lastBlock != 0,
		Status: Status(o.Data[8]), Text: string(o.Data[blockStatusSize:]),
	}, nil
}

// ParseDescriptor decodes an object of g70v7.
func ParseDescriptor(o object.Raw) (Descriptor, error) {
	if err := fixed(o, object.G70V7, descriptorSize); err != nil {
		return Descriptor{}, err
	}
	name, err := text(o, 0)
	return Descriptor{
		Name: name, Type: Type(u16(o, 4)), Size: u32(o, 6), Created: object.ReadTime(o.Data[10:]),
		Permissions: u16(o, 16), Request: u16(o, 18),
	}, err
}

// ParseName decodes an object of g70v8, which names a file to delete, describe or
// activate; it is empty for any other object.
func ParseName(o object.Raw) Name {
	if o.Variation != object.G70V8 {
		return ""
	}
	return Name(o.Data)
}

// NextDescriptor decodes the descriptor at the start of a directory's content and
// returns what follows it, which is always shorter than content.
func NextDescriptor(content []byte) (d Descriptor, rest []byte, err error) {
	o := object.Raw{Variation: object.G70V7, Data: content}
	if d, err = ParseDescriptor(o); err != nil {
		return d, nil, err
	}
	size := descriptorSize
	if len(d.Name) > 0 {
		size = max(size, int(u16(o, 0))+len(d.Name))
	}
	return d, content[size:], nil
}

// fixed checks the variation and that the fixed part is there.
func fixed(o object.Raw, want object.Variation, size int) error {
	if o.Variation != want {
		return fmt.Errorf("decode %v: the object is %v", want, o.Variation)
	}
	if len(o.Data) < size {
		return fmt.Errorf("decode %v: %d octets, at least %d needed", want, len(o.Data), size)
	}
	return nil
}

// text returns the string whose offset and size stand at octet at.
func text(o object.Raw, at int) (string, error) {
	start, size := int(u16(o, at)), int(u16(o, at+2))
	if size == 0 {
		return "", nil
	}
	if start+size > len(o.Data) {
		return "", fmt.Errorf("decode %v: string of %d octets at octet %d of %d", o.Variation, size, start, len(o.Data))
	}
	return string(o.Data[start : start+size]), nil
}

func u16(o object.Raw, at int) uint16 { return binary.LittleEndian.Uint16(o.Data[at:]) }

func u32(o object.Raw, at int) uint32 { return binary.LittleEndian.Uint32(o.Data[at:]) }
