package master

import (
	"errors"
	"fmt"
	"io"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
)

// WriteFile writes size octets from a source into a file, which it makes or replaces. Key
// is that of an authentication, usually 0. If the source fails, or the outstation refuses
// a block, the transfer is aborted. The source is read by the goroutine that drives the
// association: it should be in memory.
func WriteFile(name string, key uint32, source io.Reader, size uint32) *Request {
	return &Request{name: "write file", exchange: &upload{name: name, key: key, source: source, left: size}}
}

// upload opens a file, writes its blocks and closes it.
type upload struct {
	name   string
	key    uint32
	source io.Reader
	left   uint32 // octets to be sent

	state  uploadState
	handle uint32
	block  uint32
	room   []byte // a block
	err    error  // why the transfer is aborted
}

type uploadState uint8

const (
	uploadOpens uploadState = iota
	uploadWrites
	uploadCloses
	uploadAborts
	uploadEnds
)

func (u *upload) function() app.Function {
	switch u.state {
	case uploadOpens:
		return app.FuncOpenFile
	case uploadWrites:
		return app.FuncWrite
	case uploadAborts:
		return app.FuncAbortFile
	default:
		return app.FuncCloseFile
	}
}

func (u *upload) write(w *app.Writer, now time.Time) error {
	switch u.state {
	case uploadOpens:
		return w.Free(file.Command{
			Name: u.name, Key: u.key, Mode: file.ModeWrite, Size: u.left, BlockSize: fileBlock,
			Permissions: ownerReadsWrites, Created: object.TimestampOf(now),
		})
	case uploadWrites:
		return w.Free(file.Block{Handle: u.handle, Number: u.block, Last: u.left == 0, Data: u.room})
	default:
		return w.Free(file.CommandStatus{Handle: u.handle})
	}
}

// ownerReadsWrites are the permissions of a new file.
const ownerReadsWrites = 0o600

// more reports whether the file has to be written on or closed.
func (u *upload) more() bool { return u.state != uploadEnds }

func (u *upload) answer(f app.Fragment, _ time.Time, _ *Result) error {
	o, ok, err := fileObject(f)
	if err != nil || !ok {
		return err
	}
	status, known := statusOf(o)
	switch {
	case !known:
		return fmt.Errorf("an answer of %v: %w", o.Variation, ErrMalformed)
	case u.state == uploadAborts:
		u.state = uploadEnds
		return u.err
	case u.state == uploadCloses:
		u.state = uploadEnds
		return refusal(status)
	case u.state == uploadWrites:
		u.written(o, status)
		return nil
	case status != file.Success:
		return refusal(status)
	}
	return u.opened(o)
}

// refusal returns the error of a status, nil for success.
func refusal(status file.Status) error {
	if status == file.Success {
		return nil
	}
	return fmt.Errorf("%v: %w", status, ErrFile)
}

func (u *upload) opened(o object.Raw) error {
	status, err := file.ParseCommandStatus(o)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	case status.BlockSize == 0:
		return fmt.Errorf("blocks of no octets: %w", ErrMalformed)
	}
	u.handle = status.Handle
	u.room = make([]byte, min(status.BlockSize, fileBlock))
	u.next()
	return nil
}

// next takes the next block from the source.
func (u *upload) next() {
	u.state = uploadWrites
	u.room = u.room[:min(uint32(cap(u.room)), u.left)]
	u.left -= uint32(len(u.room))
	if _, err := io.ReadFull(u.source, u.room); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errShort
		}
		u.state, u.err = uploadAborts, err
	}
}

var errShort = errors.New("the source of the file ends before the size given")

// written goes on after a block.
func (u *upload) written(o object.Raw, status file.Status) {
	block, err := file.ParseBlockStatus(o)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	case status != file.Success:
		err = refusal(status)
	case block.Handle != u.handle || block.Number != u.block:
		err = fmt.Errorf("block %d is answered instead of %d: %w", block.Number, u.block, ErrMalformed)
	}
	switch {
	case err != nil:
		u.state, u.err = uploadAborts, err
	case u.left == 0:
		u.state = uploadCloses
	default:
		u.block++
		u.next()
	}
}
