package filetransfer

import (
	"crypto/rand"
	"encoding/binary"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

// Files is what a master does with files.
type Files struct {
	service *Service
	open    []*transfer
	handle  uint32   // given last
	keys    []uint32 // given to the user and not used yet
}

// maxKeys bounds the keys that are kept for a master.
const maxKeys = 4

// NewFiles returns a master's use of a service, nothing open.
func NewFiles(service *Service) Files { return Files{service: service} }

// Answer carries out FC 25 to 30, and reads and writes of blocks of at most room octets. It
// returns the answer, or the indication with which the request is refused.
func (t *Files) Answer(now time.Time, f app.Fragment, room int) (app.FreeObject, app.IIN) {
	o, iin := t.object(f)
	if iin != 0 {
		return nil, iin
	}
	t.Expire(now)
	answer := t.perform(now, f.Function, o, room)
	if answer == nil {
		return nil, app.IINObjectUnknown
	}
	return answer, 0
}

// object returns the object of a request, which has one.
func (t *Files) object(f app.Fragment) (object.Raw, app.IIN) {
	if t.service.Files == nil {
		if f.Function == app.FuncRead || f.Function == app.FuncWrite {
			return object.Raw{}, app.IINObjectUnknown
		}
		return object.Raw{}, app.IINNoFunction
	}
	var found object.Raw
	n := uint64(0)
	for h, err := range f.Headers() {
		if err != nil {
			return object.Raw{}, app.ErrorIIN(err)
		}
		for o := range h.Objects() {
			found = o
			n++
		}
	}
	if n != 1 {
		return object.Raw{}, app.IINParameterError
	}
	return found, 0
}

// IsBlock reports whether a read or write is about a block of a file.
func IsBlock(f app.Fragment) bool {
	for h, err := range f.Headers() {
		return err == nil && h.Variation == object.G70V5
	}
	return false
}

// perform carries a request out and returns the answer, nil if it is none of this object.
func (t *Files) perform(now time.Time, function app.Function, o object.Raw, room int) app.FreeObject {
	switch {
	case function == app.FuncOpenFile && o.Variation == object.G70V3:
		return t.openFile(now, o, room)
	case function == app.FuncCloseFile && o.Variation == object.G70V4:
		return t.closeFile(o, true)
	case function == app.FuncAbortFile && o.Variation == object.G70V4:
		return t.closeFile(o, false)
	case function == app.FuncDeleteFile && o.Variation == object.G70V3:
		return t.deleteFile(o)
	case function == app.FuncGetFileInfo && o.Variation == object.G70V7:
		return t.fileInfo(o)
	case function == app.FuncAuthenticateFile && o.Variation == object.G70V2:
		return t.authenticate(o)
	case function == app.FuncRead && o.Variation == object.G70V5:
		return t.readBlock(now, o)
	case function == app.FuncWrite && o.Variation == object.G70V5:
		return t.writeBlock(now, o)
	default:
		return nil
	}
}

// answered is an answer of a status, with its meaning in words.
func answered(status file.Status, request uint16) file.CommandStatus {
	a := file.CommandStatus{Status: status, Request: request}
	if status != file.Success {
		a.Text = status.String()
	}
	return a
}

// localName makes a name that masters use one of package fs, "" if it cannot be one.
func localName(name string) string {
	name = path.Clean(strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "/"))
	if !fs.ValidPath(name) || strings.ContainsRune(name, 0) {
		return ""
	}
	return name
}

// smallestBlock is the least that a master may ask for.
const smallestBlock = 16

func (t *Files) openFile(now time.Time, o object.Raw, room int) app.FreeObject {
	c, err := file.ParseCommand(o)
	name := localName(c.Name)
	switch {
	case err != nil || name == "":
		return answered(file.NotFound, c.Request)
	case !t.allowed(c.Key):
		return answered(file.PermissionDenied, c.Request)
	case len(t.open) >= t.service.MaxOpen:
		return answered(file.TooManyOpen, c.Request)
	}
	opened, status := t.begin(c, name)
	if status != file.Success {
		return answered(status, c.Request)
	}
	t.handle++
	opened.handle = t.handle
	opened.blockSize = min(max(int(c.BlockSize), smallestBlock), room)
	opened.due = now.Add(t.service.Timeout)
	t.open = append(t.open, opened)
	return file.CommandStatus{
		Handle: opened.handle, Size: uint32(opened.size), BlockSize: uint16(opened.blockSize), Request: c.Request,
	}
}

// begin opens a file in the mode asked for.
func (t *Files) begin(c file.Command, name string) (*transfer, file.Status) {
	switch c.Mode {
	case file.ModeRead:
		opened, err := openContent(t.service.Files, name)
		return opened, fileStatus(err)
	case file.ModeWrite, file.ModeAppend:
		into, ok := t.service.Files.(UploadFS)
		switch {
		case !ok:
			return nil, file.PermissionDenied
		case c.Size != maxFile && int64(c.Size) > t.service.MaxSize:
			return nil, file.BufferOverrun
		}
		upload, err := into.Create(name, c.Mode == file.ModeAppend)
		return &transfer{upload: upload, left: t.service.MaxSize}, fileStatus(err)
	default:
		return nil, file.InvalidMode
	}
}

// allowed uses up a key, if one is needed.
func (t *Files) allowed(key uint32) bool {
	if t.service.Authenticate == nil {
		return true
	}
	at := slices.Index(t.keys, key)
	if at < 0 {
		return false
	}
	t.keys = slices.Delete(t.keys, at, at+1)
	return true
}

func (t *Files) authenticate(o object.Raw) app.FreeObject {
	a, err := file.ParseAuth(o)
	if err != nil {
		return nil
	}
	check := t.service.Authenticate
	if check != nil && !check(a.User, a.Password) {
		return file.Auth{}
	}
	var octets [4]byte
	_, _ = rand.Read(octets[:]) // it never fails
	key := max(1, binary.LittleEndian.Uint32(octets[:]))
	if len(t.keys) == maxKeys {
		t.keys = slices.Delete(t.keys, 0, 1)
	}
	t.keys = append(t.keys, key)
	return file.Auth{Key: key}
}

// find returns an open file and its place, nil if there is none of this handle.
func (t *Files) find(handle uint32) (int, *transfer) {
	for i, opened := range t.open {
		if opened.handle == handle {
			return i, opened
		}
	}
	return 0, nil
}

func (t *Files) closeFile(o object.Raw, keep bool) app.FreeObject {
	c, err := file.ParseCommandStatus(o)
	if err != nil {
		return nil
	}
	at, opened := t.find(c.Handle)
	if opened == nil {
		return file.CommandStatus{Handle: c.Handle, Request: c.Request, Status: t.unknown(c.Handle), Text: t.unknown(c.Handle).String()}
	}
	t.open = slices.Delete(t.open, at, at+1)
	a := answered(fileStatus(opened.end(keep)), c.Request)
	a.Handle = c.Handle
	return a
}

// unknown returns the status of a handle that no file has: it had one, or never did.
func (t *Files) unknown(handle uint32) file.Status {
	if handle > 0 && handle <= t.handle {
		return file.HandleExpired
	}
	return file.InvalidHandle
}

func (t *Files) deleteFile(o object.Raw) app.FreeObject {
	c, err := file.ParseCommand(o)
	name := localName(c.Name)
	from, ok := t.service.Files.(UploadFS)
	switch {
	case err != nil || name == "":
		return answered(file.NotFound, c.Request)
	case !ok || !t.allowed(c.Key):
		return answered(file.PermissionDenied, c.Request)
	}
	return answered(fileStatus(from.Remove(name)), c.Request)
}

func (t *Files) fileInfo(o object.Raw) app.FreeObject {
	d, err := file.ParseDescriptor(o)
	name := localName(d.Name)
	if err != nil || name == "" {
		return answered(file.NotFound, d.Request)
	}
	info, err := fs.Stat(t.service.Files, name)
	if err != nil {
		return answered(fileStatus(err), d.Request)
	}
	answer := describe(d.Name, info)
	answer.Request = d.Request
	return answer
}

func (t *Files) readBlock(now time.Time, o object.Raw) app.FreeObject {
	b, err := file.ParseBlock(o)
	if err != nil {
		return nil
	}
	refuse := func(status file.Status) app.FreeObject {
		return file.BlockStatus{Handle: b.Handle, Number: b.Number, Status: status, Text: status.String()}
	}
	_, opened := t.find(b.Handle)
	if opened == nil {
		return refuse(t.unknown(b.Handle))
	}
	opened.due = now.Add(t.service.Timeout)
	block, status := opened.read(b.Number, make([]byte, opened.blockSize))
	if status != file.Success {
		return refuse(status)
	}
	return block
}

func (t *Files) writeBlock(now time.Time, o object.Raw) app.FreeObject {
	b, err := file.ParseBlock(o)
	if err != nil {
		return nil
	}
	_, opened := t.find(b.Handle)
	status := t.unknown(b.Handle)
	if opened != nil {
		opened.due = now.Add(t.service.Timeout)
		status = opened.write(b)
	}
	answer := file.BlockStatus{Handle: b.Handle, Number: b.Number, Last: b.Last, Status: status}
	if status != file.Success {
		answer.Text = status.String()
	}
	return answer
}

// Expire closes the files that were left alone.
func (t *Files) Expire(now time.Time) {
	t.open = slices.DeleteFunc(t.open, func(opened *transfer) bool {
		late := station.Due(opened.due, now)
		if late {
			_ = opened.end(false)
		}
		return late
	})
}

// Deadline returns when a file that is left alone is closed.
func (t *Files) Deadline() time.Time {
	var due time.Time
	for _, opened := range t.open {
		due = station.Earlier(due, opened.due)
	}
	return due
}

// CloseAll drops everything, as the master is gone.
func (t *Files) CloseAll() {
	for _, opened := range t.open {
		_ = opened.end(false)
	}
	t.open, t.keys = nil, nil
}
