package client

import (
	"context"
	"errors"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/service"
)

// Errors of files.
var (
	ErrFileTooLong = errors.New("the file is longer than was asked for")
	errFileStands  = errors.New("the device sends nothing of the file, and says that this is not its end")
)

// filePortion is how many octets of a file are asked for at once, as they fit in the APDU of the device.
const filePortion = 1024

// ReadFile reads a file object that is accessed as a stream, up to most octets (AtomicReadFile, clause 14.1).
func (d Remote) ReadFile(ctx context.Context, file encoding.ObjectID, most int) ([]byte, error) {
	portion := filePortion
	if d.MaxAPDU > 0 {
		portion = max(min(portion, d.MaxAPDU-fileHead), 1)
	}
	var content []byte
	for {
		r := service.ReadFileRequest{File: file, Start: int32(len(content)), Count: uint32(portion)}
		answer, err := d.Do(ctx, service.AtomicReadFile, r.Append(nil))
		if err != nil {
			return nil, err
		}
		part, err := service.DecodeReadFileAck(answer)
		switch {
		case err != nil:
			return nil, err
		case part.Records || part.Start != r.Start || len(part.Data) != 1:
			return nil, errUnfit
		case len(content)+len(part.Data[0]) > most:
			return nil, ErrFileTooLong
		}
		content = append(content, part.Data[0]...)
		if part.End {
			return content, nil
		}
		if len(part.Data[0]) == 0 {
			return nil, errFileStands
		}
	}
}

// fileHead is what an answer has around the octets of a file.
const fileHead = 24
