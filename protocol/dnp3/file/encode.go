package file

import (
	"encoding/binary"

	"voltbus/protocol/dnp3/object"
)

// Variation returns g70v2.
func (Auth) Variation() object.Variation { return object.G70V2 }

// EncodedSize returns the octets that Append appends.
func (f Auth) EncodedSize() int { return authSize + len(f.User) + len(f.Password) }

// Append appends the object's octets.
func (f Auth) Append(dst []byte) []byte {
	dst = appendSpan(dst, authSize, len(f.User))
	dst = appendSpan(dst, authSize+len(f.User), len(f.Password))
	dst = binary.LittleEndian.AppendUint32(dst, f.Key)
	return append(append(dst, f.User...), f.Password...)
}

// Variation returns g70v3.
func (Command) Variation() object.Variation { return object.G70V3 }

// EncodedSize returns the octets that Append appends.
func (f Command) EncodedSize() int { return commandSize + len(f.Name) }

// Append appends the object's octets.
func (f Command) Append(dst []byte) []byte {
	dst = appendSpan(dst, commandSize, len(f.Name))
	dst = object.AppendTime(dst, f.Created)
	dst = binary.LittleEndian.AppendUint16(dst, f.Permissions)
	dst = binary.LittleEndian.AppendUint32(dst, f.Key)
	dst = binary.LittleEndian.AppendUint32(dst, f.Size)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(f.Mode))
	dst = binary.LittleEndian.AppendUint16(dst, f.BlockSize)
	dst = binary.LittleEndian.AppendUint16(dst, f.Request)
	return append(dst, f.Name...)
}

// Variation returns g70v4.
func (CommandStatus) Variation() object.Variation { return object.G70V4 }

// EncodedSize returns the octets that Append appends.
func (f CommandStatus) EncodedSize() int { return commandStatusSize + len(f.Text) }

// Append appends the object's octets.
func (f CommandStatus) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, f.Handle)
	dst = binary.LittleEndian.AppendUint32(dst, f.Size)
	dst = binary.LittleEndian.AppendUint16(dst, f.BlockSize)
	dst = binary.LittleEndian.AppendUint16(dst, f.Request)
	return append(append(dst, byte(f.Status)), f.Text...)
}

// Variation returns g70v5.
func (Block) Variation() object.Variation { return object.G70V5 }

// EncodedSize returns the octets that Append appends.
func (f Block) EncodedSize() int { return blockSize + len(f.Data) }

// Append appends the object's octets.
func (f Block) Append(dst []byte) []byte {
	return append(appendBlock(dst, f.Handle, f.Number, f.Last), f.Data...)
}

// Variation returns g70v6.
func (BlockStatus) Variation() object.Variation { return object.G70V6 }

// EncodedSize returns the octets that Append appends.
func (f BlockStatus) EncodedSize() int { return blockStatusSize + len(f.Text) }

// Append appends the object's octets.
func (f BlockStatus) Append(dst []byte) []byte {
	dst = appendBlock(dst, f.Handle, f.Number, f.Last)
	return append(append(dst, byte(f.Status)), f.Text...)
}

// Variation returns g70v7.
func (Descriptor) Variation() object.Variation { return object.G70V7 }

// EncodedSize returns the octets that Append appends.
func (f Descriptor) EncodedSize() int { return descriptorSize + len(f.Name) }

// Append appends the object's octets.
func (f Descriptor) Append(dst []byte) []byte {
	dst = appendSpan(dst, descriptorSize, len(f.Name))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(f.Type))
	dst = binary.LittleEndian.AppendUint32(dst, f.Size)
	dst = object.AppendTime(dst, f.Created)
	dst = binary.LittleEndian.AppendUint16(dst, f.Permissions)
	dst = binary.LittleEndian.AppendUint16(dst, f.Request)
	return append(dst, f.Name...)
}

// Variation returns g70v8.
func (Name) Variation() object.Variation { return object.G70V8 }

// EncodedSize returns the octets that Append appends.
func (f Name) EncodedSize() int { return len(f) }

// Append appends the object's octets.
func (f Name) Append(dst []byte) []byte { return append(dst, f...) }

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
