package master

import (
	"errors"
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
)

// Errors of file transfers, beside those of requests.
var (
	// ErrFile says that the outstation refused a file operation, with its status.
	ErrFile = errors.New("the outstation refused the file operation")
	// ErrFileSize says that a file is longer than allowed.
	ErrFileSize = errors.New("the file is longer than allowed: allow more, or leave it")
)

// fileBlock is the size of blocks asked for; the outstation may choose a smaller one.
const fileBlock = 1024

// ReadFile reads a file of at most limit octets and gives its blocks to take in order;
// a block is valid only during the call. The file is closed again when take returns an
// error, which ends the request with it. Key is that of an authentication, usually 0.
func ReadFile(name string, key uint32, limit int64, take func(block []byte) error) *Request {
	return &Request{name: "read file", exchange: &download{name: name, key: key, left: limit, take: take}}
}

// ReadDirectory reads the entries of a directory of at most limit octets and gives each
// to take.
func ReadDirectory(name string, key uint32, limit int64, take func(d file.Descriptor)) *Request {
	var content []byte
	done := func() error {
		for len(content) > 0 {
			d, rest, err := file.NextDescriptor(content)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrMalformed, err)
			}
			take(d)
			content = rest
		}
		return nil
	}
	keep := func(block []byte) error {
		content = append(content, block...)
		return nil
	}
	return &Request{name: "read directory", exchange: &download{name: name, key: key, left: limit, take: keep, done: done}}
}

// download opens a file, reads its blocks and closes it.
type download struct {
	name string
	key  uint32
	left int64 // octets that may still come
	take func(block []byte) error
	done func() error // after the last block

	state  downloadState
	handle uint32
	block  uint32
	err    error // why the file is closed early
}

type downloadState uint8

const (
	downloadOpens downloadState = iota
	downloadReads
	downloadCloses
	downloadEnds
)

func (d *download) function() app.Function {
	switch d.state {
	case downloadOpens:
		return app.FuncOpenFile
	case downloadReads:
		return app.FuncRead
	default:
		return app.FuncCloseFile
	}
}

func (d *download) write(w *app.Writer, _ time.Time) error {
	switch d.state {
	case downloadOpens:
		return w.Free(file.Command{Name: d.name, Key: d.key, Mode: file.ModeRead, BlockSize: fileBlock})
	case downloadReads:
		return w.Free(file.Block{Handle: d.handle, Number: d.block})
	default:
		return w.Free(file.CommandStatus{Handle: d.handle})
	}
}

// more reports whether the file has to be read on or closed.
func (d *download) more() bool { return d.state != downloadEnds }

func (d *download) answer(f app.Fragment, _ time.Time, _ *Result) error {
	o, ok, err := fileObject(f)
	if err != nil || !ok {
		return err
	}
	return d.object(o)
}

// object takes the object of an answer.
func (d *download) object(o object.Raw) error {
	switch {
	case d.state == downloadReads && o.Variation == object.G70V5:
		d.received(o)
		return nil
	case d.state == downloadReads && o.Variation == object.G70V6:
		status, _ := statusOf(o)
		d.state, d.err = downloadCloses, fmt.Errorf("%v: %w", status, ErrFile)
		return nil
	case o.Variation != object.G70V4:
		return fmt.Errorf("an answer of %v: %w", o.Variation, ErrMalformed)
	}
	status, err := file.ParseCommandStatus(o)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	case d.state == downloadCloses:
		d.state = downloadEnds
		return d.err
	case status.Status != file.Success:
		return fmt.Errorf("%v: %w", status.Status, ErrFile)
	case d.state == downloadReads:
		return fmt.Errorf("an answer of %v to a read: %w", o.Variation, ErrMalformed)
	}
	d.handle, d.state = status.Handle, downloadReads
	return nil
}

// received takes a block. What is wrong with it ends the transfer, but not before the
// file is closed.
func (d *download) received(o object.Raw) {
	block, err := file.ParseBlock(o)
	d.left -= int64(len(block.Data))
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	case block.Handle != d.handle || block.Number != d.block:
		err = fmt.Errorf("block %d instead of %d: %w", block.Number, d.block, ErrMalformed)
	case d.left < 0:
		err = ErrFileSize
	default:
		err = d.take(block.Data)
	}
	if err == nil && block.Last && d.done != nil {
		err = d.done()
	}
	d.block++
	if err != nil || block.Last {
		d.state, d.err = downloadCloses, err
	}
}
